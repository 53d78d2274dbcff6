// The simulator of this page: a request {scenario, seeds} in, {columns} or {error} out.
const openSimulator = async () => {
  const packed = Uint8Array.from(
    atob(document.getElementById("simulator").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const octets = await new Response(stream).arrayBuffer();
  const compiled = await WebAssembly.compile(octets);
  let exports = (await WebAssembly.instantiate(compiled, {})).exports;
  // Text of the answer. JSON writes every number so that it reads back to the last bit.
  const askText = (request) => {
    const text = new TextEncoder().encode(request);
    const place = exports.request(text.length);
    new Uint8Array(exports.memory.buffer, place, text.length).set(text);
    const length = exports.answer();
    return new TextDecoder().decode(
      new Uint8Array(exports.memory.buffer, exports.answer_at(), length));
  };
  const ask = (request) => {
    try {
      return JSON.parse(askText(JSON.stringify(request)));
    } catch (problem) {
      // A panic leaves the memory in an unknown state: the next request starts afresh.
      exports = new WebAssembly.Instance(compiled, {}).exports;
      return { error: "the simulator stopped: " + problem.message };
    }
  };
  return { ask, askText };
};
