(async () => {
  const data = JSON.parse(document.getElementById("playground-data").textContent);
  const WARM_UP_S = data.warm_up_s;
  const MEASURED_S = data.measured_s;
  const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"];
  const lesson = (id) => document.getElementById(id);
  const valueOf = (id, name) => lesson(id).querySelector('[name="' + name + '"]').value;
  const OPEN = 0;
  const CCMP = data.network.findIndex(([name]) => name.includes("CCMP"));

  let simulator;
  try {
    simulator = await openSimulatorInWorker().catch(openSimulator);
  } catch (problem) {
    document.querySelectorAll("figcaption").forEach((text) => {
      text.textContent = "This browser cannot run the simulator: " + problem.message;
    });
    return;
  }

  // A lesson is drawn again while it is computed: the answer to the former controls is dropped.
  const OUTDATED = Symbol("outdated");
  const drawn = {};
  const ask = async (id, request) => {
    const own = drawn[id];
    const answer = await simulator.ask(request);
    if (drawn[id] !== own) throw OUTDATED;
    if (answer.error) throw new Error(answer.error);
    return answer;
  };
  // Rows of short trials of the network under a policy, one for each seed.
  const trials = async (id, policy, wanted, seeds, edit = () => {}) => {
    const scenario = changed(data.network[policy][1], { ...wanted, path_loss: data.path_loss });
    scenario.warm_up_s = WARM_UP_S;
    scenario.duration_s = WARM_UP_S + MEASURED_S;
    edit(scenario);
    const { columns } = await ask(id, { scenario, seeds });
    return seeds.map((_, number) => {
      const rows = columns.trial.flatMap((trial, row) => (trial === number ? [row] : []));
      return Object.fromEntries(Object.entries(columns).map(
        ([name, values]) => [name, rows.map((row) => values[row])]));
    });
  };
  const trial = async (id, policy, wanted, edit) =>
    (await trials(id, policy, wanted, [data.seed], edit))[0];
  // One after the other, so that an outdated answer leaves nothing behind it.
  const inTurn = async (values, compute) => {
    const found = [];
    for (const value of values) found.push(await compute(value, found.length));
    return found;
  };
  // Throughput in Mb/s of a station, or of all.
  const throughput = (columns, station = null) => columns.metric.reduce((sum, metric, row) =>
    metric === "throughput_bps" && columns.second[row] === null
      && (station === null || columns.station[row] === station)
      ? sum + columns.value[row] / 1e6 : sum, 0);
  const total = (columns, wanted) => columns.metric.reduce((sum, metric, row) =>
    metric === wanted ? sum + columns.value[row] : sum, 0);

  const shape = (name, given, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(given).forEach(([key, value]) => made.setAttribute(key, value));
    if (text !== undefined) made.textContent = text;
    return made;
  };
  // A figure is as many units wide as its place has pixels, so that 13 units are 13 pixels of text.
  const WIDEST = 640;
  const NARROW = 480;
  const widthOf = (id) => Math.min(WIDEST,
    Math.max(280, lesson(id).querySelector("[data-figure]").clientWidth || WIDEST));
  const sheet = (id, height, words) => {
    const made = shape("svg", { viewBox: "0 0 " + widthOf(id) + " " + height, role: "img",
      "aria-label": words });
    lesson(id).querySelector("[data-figure]").replaceChildren(made);
    return made;
  };
  const label = (svg, x, y, text, anchor = "start") => svg.append(shape("text",
    { x, y, "font-size": 13, "text-anchor": anchor }, text));
  const most = (numbers) => Math.max(...numbers, 1e-9);
  // Round numbers from below the least to above the most: steps of 1, 2 or 5.
  const ticks = (least, top) => {
    const raw = (top - least) / 4;
    const size = 10 ** Math.floor(Math.log10(raw));
    const step = size * [1, 2, 5, 10].find((one) => one * size >= raw * (1 - 1e-9));
    const first = Math.floor(least / step + 1e-9);
    const last = Math.ceil(top / step - 1e-9);
    const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return Array.from({ length: last - first + 1 }, (_, number) => {
      const value = (first + number) * step;
      return [value, value.toFixed(places)];
    });
  };
  const MARKERS = [
    (x, y, colour) => shape("circle", { cx: x, cy: y, r: 4, fill: colour, "data-marker": "" }),
    (x, y, colour) => shape("rect", { x: x - 3.5, y: y - 3.5, width: 7, height: 7, fill: colour,
      "data-marker": "" }),
  ];

  // Of many points every few have a marker, so that the markers do not hide the line.
  const marked = (xs) => xs.filter((_, i) => i % Math.ceil(xs.length / 16) === 0);
  // Lines over the values of x. A curve has a name, its values, and by x the means of several
  // trials with their intervals, which it passes through where each of its points has one.
  const lines = (id, xs, curves, xWords, yWords, fromZero = true) => {
    const wide = widthOf(id);
    const beside = wide > NARROW;
    const svg = sheet(id, beside ? 300 : 284 + 20 * curves.length, yWords + " over " + xWords);
    const values = curves.flatMap(([, ys, means]) =>
      [...(means.size === xs.length ? [] : ys),
        ...[...means.values()].flatMap(([middle, half]) => [middle - half, middle + half])]);
    const marks = ticks(fromZero ? 0 : Math.min(...values), most(values));
    const [bottom, top] = [marks[0][0], marks[marks.length - 1][0]];
    const right = wide - 20;
    const across = (x) => 60 + (right - 60) * (x - xs[0]) / (xs[xs.length - 1] - xs[0]);
    const up = (y) => 240 - 205 * (y - bottom) / (top - bottom);
    marks.forEach(([value, words]) => {
      const y = up(value);
      svg.append(shape("line", { x1: 60, x2: right, y1: y, y2: y, stroke: "currentColor",
        "stroke-opacity": 0.2 }));
      label(svg, 54, y + 4, words, "end");
    });
    [xs[0], xs[Math.floor(xs.length / 2)], xs[xs.length - 1]].forEach((x) =>
      label(svg, across(x), 258, String(x), "middle"));
    label(svg, (60 + right) / 2, 276, xWords, "middle");
    label(svg, 8, 16, yWords);
    const shown = marked(xs);
    curves.forEach(([name, ys, means], number) => {
      const stroke = { stroke: COLOURS[number], "stroke-width": 2.5,
        "stroke-dasharray": ["", "7 4"][number % 2] };
      const marker = MARKERS[number % MARKERS.length];
      const course = means.size === xs.length ? xs.map((x) => means.get(x)[0]) : ys;
      svg.append(shape("polyline", {
        points: course.map((y, i) => across(xs[i]) + "," + up(y)).join(" "),
        fill: "none", ...stroke }));
      means.forEach(([middle, half], x) => {
        const [at, low, high] = [across(x), up(middle - half), up(middle + half)];
        svg.append(shape("path", { d: "M" + at + " " + low + "V" + high
          + [low, high].map((y) => "M" + (at - 4) + " " + y + "h8").join(""),
          stroke: COLOURS[number], "stroke-width": 1.5, fill: "none", "data-interval": "" }));
      });
      shown.forEach((x) => {
        const y = means.has(x) ? means.get(x)[0] : ys[xs.indexOf(x)];
        svg.append(marker(across(x), up(y), COLOURS[number]));
      });
      const [x, y] = beside ? [60 + 280 * number, 291] : [60, 295 + 20 * number];
      svg.append(shape("line", { x1: x, x2: x + 24, y1: y, y2: y, ...stroke }));
      svg.append(marker(x + 12, y, COLOURS[number]));
      label(svg, x + 30, y + 4, name);
    });
  };
  // Horizontal bars with their numbers; on a phone the name stands above its bar.
  const bars = (id, rows, unit) => {
    const wide = widthOf(id);
    const beside = wide > NARROW;
    const each = beside ? 34 : 52;
    const svg = sheet(id, 20 + each * rows.length, rows.map(([name]) => name).join(", "));
    const top = most(rows.map(([, value]) => value));
    const [left, longest] = beside ? [195, 190] : [8, wide - 220];
    rows.forEach(([name, value, tail], number) => {
      const y = (beside ? 12 : 28) + each * number;
      label(svg, 8, beside ? y + 15 : y - 6, name);
      svg.append(shape("rect", { x: left, y, width: Math.max(0, longest * value / top), height: 22,
        fill: COLOURS[number % COLOURS.length] }));
      label(svg, left + 6 + longest * value / top, y + 15,
        value.toFixed(2) + " " + unit + (tail || ""));
    });
  };
  const say = (id, text) => { lesson(id).querySelector("figcaption").textContent = text; };
  const rate = (id, name) => data.rates[Number(valueOf(id, name))];
  const steps = (from, to, by) => {
    const found = [];
    for (let x = from; x <= to; x += by) found.push(x);
    return found;
  };
  // The mean of some trials and half of its interval, `least` at least.
  const estimate = (values, least) => {
    const middle = values.reduce((sum, value) => sum + value) / values.length;
    const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0)
      / (values.length - 1));
    return [middle, Math.max(data.cost_t * spread / Math.sqrt(values.length), least)];
  };
  // The same in words.
  const mean = (values, least, digits) => {
    const [middle, half] = estimate(values, least);
    const step = 10 ** digits;
    return middle.toFixed(digits) + " \u00b1 "
      + (Math.ceil(step * half - 1e-9) / step).toFixed(digits);
  };
  const seeds = Array.from({ length: data.cost_pairs }, (_, number) => data.seed + number);
  const repeated = (id, policy, wanted) => trials(id, policy, wanted, seeds);
  // One packet is the step of a throughput, here in Mb/s.
  const packet = (payload) => payload * 8 / (1e6 * MEASURED_S);
  const measure = async (id, policy, wanted) =>
    (await repeated(id, policy, wanted)).map((columns) => throughput(columns));
  // A cost with its interval: pairs of trials with common random numbers.
  const cost = (open, secured, payload) => mean(
    secured.map((value, number) => 100 * (1 - value / open[number])),
    100 * packet(payload) / open[0], 1) + " %";
  const costs = async (id, policies, wanted) => {
    const open = await measure(id, OPEN, wanted);
    return inTurn(policies, async (policy) =>
      cost(open, await measure(id, policy, wanted), wanted.payload));
  };

  // A curve at once by one trial for each point; then the means of several, drawn again.
  const TRIALS = " Markers: mean of " + data.cost_pairs + " trials with the 95 % interval";
  const overPayload = async (id, xs) => {
    const [words, chosen] = rate(id, "rate");
    const curves = await inTurn([OPEN, CCMP], async (policy) => [data.network[policy][0],
      await inTurn(xs, async (payload) =>
        throughput(await trial(id, policy, { payload, rate: chosen }))), new Map()]);
    const drawCurves = () =>
      lines(id, xs, curves, "payload, octets", "throughput, Mb/s", id !== "symbols");
    drawCurves();
    const told = await inTurn(marked(xs), async (payload) => {
      const both = await inTurn([OPEN, CCMP], (policy) =>
        measure(id, policy, { payload, rate: chosen }));
      both.forEach((several, number) =>
        curves[number][2].set(payload, estimate(several, packet(payload))));
      return cost(...both, payload);
    });
    drawCurves();
    const ends = [xs[0], marked(xs)[told.length - 1]];
    say(id, words + ": CCMP costs " + told[0] + " at " + ends[0] + " octets and "
      + told[told.length - 1] + " at " + ends[1] + " octets." + TRIALS
      + (marked(xs).length === xs.length ? "." : "; the line: one trial for each octet."));
  };

  let frames = [];
  const showFrame = (at) => {
    const slider = lesson("handover").querySelector('[name="frame"]');
    const place = Math.min(Math.max(0, at), frames.length - 1);
    slider.value = place;
    slider.parentElement.querySelector("output").textContent = (place + 1) + " of " + frames.length;
    const here = frames[place];
    const first = Math.max(0, Math.min(place - 4, frames.length - 9));
    const shown = frames.slice(first, first + 9);
    const nodes = [...new Set(frames.flatMap((frame) => [frame.from, frame.to]))]
      .filter((name) => name !== null && name !== "all");
    const svg = sheet("handover", 60 + 30 * shown.length, "frames of the hand-over");
    const wide = widthOf("handover");
    const [left, right] = wide > NARROW ? [210, wide - 30] : [125, wide - 35];
    const column = (name) =>
      left + ((right - left) / Math.max(1, nodes.length - 1)) * nodes.indexOf(name);
    nodes.forEach((name) => {
      label(svg, column(name), 16, name, "middle");
      svg.append(shape("line", { x1: column(name), x2: column(name), y1: 24,
        y2: 54 + 30 * shown.length, stroke: "currentColor", "stroke-opacity": 0.3 }));
    });
    shown.forEach((frame, number) => {
      const y = 46 + 30 * number;
      const own = frame === here;
      const [from, to] = [frame.from ?? frame.to, frame.to === "all" || frame.to === null
        ? frame.from : frame.to].map(column);
      if (own) svg.append(shape("rect", { x: 0, y: y - 18, width: wide, height: 28,
        fill: COLOURS[0], "fill-opacity": 0.18 }));
      label(svg, 6, y, (frame.begin_us / 1000).toFixed(3) + " ms");
      svg.append(shape("line", { x1: from, x2: to, y1: y + 4, y2: y + 4, stroke: COLOURS[0],
        "stroke-width": 2 }));
      svg.append(shape("circle", { cx: to, cy: y + 4, r: 4, fill: COLOURS[0] }));
      label(svg, (from + to) / 2, y - 2, frame.kind, "middle");
    });
    say("handover", (here.begin_us / 1000).toFixed(3) + " to " + (here.end_us / 1000).toFixed(3)
      + " ms: " + here.kind + (here.from ? " from " + here.from : "")
      + (here.to ? " to " + here.to : "") + ", " + here.octets + " octets"
      + (here.protected ? ", encrypted" : "") + (here.retry ? ", repeated" : "") + ". "
      + gapWords);
  };
  let gapWords = "";
  const handOver = async () => {
    const [, scenario] = data.handovers[Number(valueOf("handover", "handover"))];
    const answer = await ask("handover", { scenario, seeds: [data.seed], frames: true });
    const managed = (frame) => !["data", "null data", "Ack", "beacon"].includes(frame.kind);
    // The hand-over is the last run of frames that are neither data nor beacons.
    const all = answer.frames;
    let last = all.length - 1;
    while (last > 0 && !managed(all[last])) last -= 1;
    let begin = last;
    while (begin > 0 && all[last].begin_us - all[begin - 1].begin_us < 500000) begin -= 1;
    const first = all.findIndex((frame, at) => at >= begin && managed(frame));
    frames = all.slice(Math.max(0, first - 6), last + 8);
    gapWords = "Gap of the call: " + (1000 * total(answer.columns, "handover_gap_s")).toFixed(2)
      + " ms, " + total(answer.columns, "handover_messages") + " messages.";
    lesson("handover").querySelector('[name="frame"]').max = frames.length - 1;
    showFrame(0);
  };

  const draw = {
    payload: () => overPayload("payload", steps(72, 1472, 100)),
    symbols: () => overPayload("symbols", steps(400, 460, 1)),
    contention: async () => {
      const payload = Number(valueOf("contention", "payload"));
      const xs = steps(1, 10, 1);
      const found = await inTurn(xs, (stations) =>
        trial("contention", CCMP, { payload, stations }));
      const share = (columns, metric) => 100 * total(columns, metric) / MEASURED_S;
      const curves = [["retries, collisions", "airtime_retry_s"],
        ["medium access", "airtime_contention_s"]].map(([name, metric]) =>
        [name, found.map((columns) => share(columns, metric)), new Map(), metric]);
      const drawCurves = () => lines("contention", xs, curves, "stations", "share of the air, %");
      drawCurves();
      const measured = await inTurn(xs, async (stations) => {
        const several = await repeated("contention", CCMP, { payload, stations });
        curves.forEach(([, , means, metric]) =>
          means.set(stations, estimate(several.map((columns) => share(columns, metric)), 0)));
        return several;
      });
      drawCurves();
      const [one, ten] = [measured[0], measured[measured.length - 1]];
      const together = (several) =>
        mean(several.map((columns) => throughput(columns)), packet(payload), 2);
      say("contention", data.network[CCMP][0] + ", all stations together: " + together(one)
        + " Mb/s with one station, " + together(ten) + " Mb/s with ten; repetitions take "
        + mean(ten.map((columns) => share(columns, "airtime_retry_s")), 0, 1)
        + " % of the air." + TRIALS + ".");
    },
    ciphers: async () => {
      const payload = Number(valueOf("ciphers", "payload"));
      const every = data.network.map((_, policy) => policy);
      const found = await inTurn(every, async (policy) =>
        throughput(await trial("ciphers", policy, { payload })));
      const told = await costs("ciphers", every, { payload });
      bars("ciphers", found.map((value, policy) => [data.network[policy][0], value,
        policy === OPEN ? "" : ", cost " + told[policy]]), "Mb/s");
      say("ciphers", "Throughput of one station with " + payload + " octets of payload.");
    },
    slow: async () => {
      const [words, chosen] = rate("slow", "slow");
      let names = [];
      const columns = await trial("slow", CCMP, { stations: 2 }, (scenario) => {
        const stations = scenario.nodes.filter((node) => node.role === "station");
        names = stations.map((node) => node.name);
        stations[1].rate = chosen;
      });
      const [fast, slow] = names.map((name) => throughput(columns, name));
      bars("slow", [["fast station", fast], ["slow station, " + words, slow],
        ["both", fast + slow]], "Mb/s");
      say("slow", "A fast station beside one at " + words + ": " + fast.toFixed(2) + " Mb/s.");
    },
    handover: handOver,
  };
  const redraw = async (id) => {
    const own = {};
    drawn[id] = own;
    lesson(id).dataset.busy = "yes";
    try {
      await draw[id]();
    } catch (problem) {
      if (problem === OUTDATED) return;
      say(id, problem.message);
    }
    if (drawn[id] === own) delete lesson(id).dataset.busy;
  };
  Object.keys(draw).forEach((id) => {
    lesson(id).addEventListener("input", (event) => {
      if (event.target.name === "frame") { showFrame(Number(event.target.value)); return; }
      const own = event.target.parentElement.querySelector("output");
      if (own) own.textContent = event.target.value;
      redraw(id);
    });
    redraw(id);
  });
  lesson("handover").addEventListener("click", (event) => {
    const step = Number(event.target.dataset.step);
    const slider = lesson("handover").querySelector('[name="frame"]');
    if (step) showFrame(Number(slider.value) + step);
  });
  // A place that has become wider or narrower is drawn again in its new size.
  let drawnAt = widthOf("payload");
  addEventListener("resize", () => {
    if (widthOf("payload") === drawnAt) return;
    drawnAt = widthOf("payload");
    Object.keys(draw).forEach(redraw);
  });
  window.airtoll = { ...simulator, changed, data };
})();
