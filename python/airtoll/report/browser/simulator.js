// The simulator of this page: a request {scenario, seeds} in, {columns} or {error} out.
// It runs here, or in a worker, so that the page stays quick while it simulates.
const simulatorOf = async (octets) => {
  const compiled = await WebAssembly.compile(octets);
  let exports = (await WebAssembly.instantiate(compiled, {})).exports;
  // Text of the answer. JSON writes every number so that it reads back to the last bit.
  const askText = (request) => {
    try {
      const text = new TextEncoder().encode(request);
      const place = exports.request(text.length);
      new Uint8Array(exports.memory.buffer, place, text.length).set(text);
      const length = exports.answer();
      return new TextDecoder().decode(
        new Uint8Array(exports.memory.buffer, exports.answer_at(), length));
    } catch (problem) {
      // A panic leaves the memory in an unknown state: the next request starts afresh.
      exports = new WebAssembly.Instance(compiled, {}).exports;
      return JSON.stringify({ error: "the simulator stopped: " + problem.message });
    }
  };
  return askText;
};
const unpackedSimulator = () => {
  const packed = Uint8Array.from(
    atob(document.getElementById("simulator").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
};
const openSimulator = async () => {
  const askText = await simulatorOf(await unpackedSimulator());
  return { ask: (request) => JSON.parse(askText(JSON.stringify(request))), askText };
};
// The same in a worker: both functions give promises. The worker's script is a text of this page,
// so that it starts in a page that was opened from a file.
const openSimulatorInWorker = async () => {
  const script = "const simulatorOf = " + simulatorOf + ";\n"
    + "const opened = new Promise((go) => { self.go = go; }).then(simulatorOf);\n"
    + "onmessage = async ({ data: [number, content] }) => {\n"
    + "  if (number === 0) self.go(content);\n"
    + "  const askText = await opened;\n"
    + "  postMessage([number, number === 0 ? '' : askText(content)]);\n"
    + "};";
  const place = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(place);
  const waiting = new Map();
  let asked = 0;
  worker.onmessage = ({ data: [number, text] }) => {
    waiting.get(number)[0](text);
    waiting.delete(number);
  };
  worker.onerror = (event) => {
    waiting.forEach(([, fail]) => fail(new Error(event.message || "the worker does not start")));
    waiting.clear();
  };
  const send = (number, content, moved = []) => new Promise((done, fail) => {
    waiting.set(number, [done, fail]);
    worker.postMessage([number, content], moved);
  });
  const octets = await unpackedSimulator();
  await send(0, octets, [octets]);
  URL.revokeObjectURL(place);
  const askText = (request) => { asked += 1; return send(asked, request); };
  return { ask: async (request) => JSON.parse(await askText(JSON.stringify(request))), askText };
};
