(() => {
  const section = document.getElementById("what-if");
  const data = JSON.parse(document.getElementById("what-if-data").textContent);
  const control = (name) => section.querySelector('[name="' + name + '"]');
  const said = (name) => section.querySelector('[data-of="' + name + '"]');
  const moved = new Set();
  let again = false;
  let simulator = null;

  const wanted = () => {
    const found = {};
    moved.forEach((name) => { found[name] = Number(control(name).value); });
    if ("rate" in found) found.rate = data.rates[found.rate];
    return { ...found, path_loss: data.path_loss };
  };
  const choice = (policy, tunnel) =>
    data.choices.find((one) => one.policy === policy && one.tunnel === tunnel);

  const scenarioOf = (one, seconds) => {
    const scenario = changed(one.scenario, wanted());
    scenario.duration_s = data.warm_up_s + seconds;
    return scenario;
  };
  // Long trials are asked for one by one: a control that moves ends them after the current one.
  const simulated = async (one, trials, seconds) => {
    if (one.refused) return { error: one.refused };
    const scenario = scenarioOf(one, seconds);
    const found = [];
    for (let seed = 1; seed <= trials && !(again && trials > data.trials); seed += 1) {
      const answer = await simulator.ask({ scenario, seeds: [seed] });
      if (answer.error) return answer;
      found.push(answer.columns);
    }
    return read(found, seconds);
  };

  const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;
  // Half of the interval of a mean.
  const half = (values) => {
    const squares = values.reduce((sum, x) => sum + (x - mean(values)) ** 2, 0);
    return data.student[values.length] * Math.sqrt(squares / (values.length - 1) / values.length);
  };
  // Throughput of every trial, bit/s, and the mean share of the air of every part.
  const read = (found, seconds) => {
    const throughput = Array(found.length).fill(0);
    const parts = {};
    found.forEach((columns, trial) => columns.metric.forEach((metric, row) => {
      if (columns.second[row] !== null) return;
      if (metric === "throughput_bps") throughput[trial] += columns.value[row];
      else if (columns.flow[row] === null && columns.station[row] === null)
        parts[metric] = (parts[metric] || 0) + columns.value[row] / found.length / seconds;
    }));
    return { throughput, mean: mean(throughput), half: half(throughput), parts };
  };
  const payloadBits = (one) => {
    const { pattern } = changed(one.scenario, wanted()).flows[0] || { pattern: {} };
    return 8 * (pattern.payload_octets || data.segment_octets);
  };
  // Trials that are long enough for many packets: one packet is the step of a throughput.
  const lengthFor = (open, bits) => Math.min(data.most_s,
    Math.max(data.trial_s, open.mean > 0 ? data.packets * bits / open.mean : 0));
  // Trials of one seed have their random numbers in common, so that the cost is that of pairs.
  const costOf = (open, mine, bits, seconds) => {
    const pairs = open.throughput.map((value, trial) => 1 - mine.throughput[trial] / value);
    return [mean(pairs), Math.max(half(pairs), bits / seconds / open.mean)];
  };
  // Digits of a value: two significant ones of half its interval, and none that nobody needs.
  const placesOf = (own, value) => {
    const first = own > 0 ? 1 - Math.floor(Math.log10(own)) : 3 - Math.floor(Math.log10(value));
    return Math.max(0, Math.min(3, first));
  };
  const rate = (one) => {
    const [value, own] = [one.mean / 1e6, one.half / 1e6];
    const places = placesOf(own, value || 1);
    const text = value.toFixed(places);
    if (own === 0) return text + " Mb/s in every trial";
    const step = 10 ** places;
    return text + " ± " + (Math.ceil(own * step - 1e-9) / step).toFixed(places) + " Mb/s";
  };
  const percent = (share) => (100 * share).toFixed(1) + " %";
  const withHalf = (share, own) => {
    const places = placesOf(100 * own, 100 * Math.abs(share) || 1);
    const step = 10 ** places;
    return (100 * share).toFixed(places) + " ± "
      + (Math.ceil(100 * own * step - 1e-9) / step).toFixed(places) + " %";
  };

  const tell = (mine, open, bits, trials, seconds, isOpen) => {
    const table = section.querySelector("tbody");
    table.replaceChildren();
    section.dataset.trials = trials;
    section.dataset.seconds = seconds;
    if (mine.error) {
      said("throughput").textContent = mine.error;
      said("cost").textContent = "";
      return;
    }
    said("throughput").textContent = rate(mine);
    said("cost").textContent = open.error ? "Without security it cannot be had: " + open.error + "."
      : open.mean === 0 ? "Nothing arrives, with or without security."
      : isOpen ? "This is the network without security."
      : "Without security: " + rate(open) + "; overhead "
        + withHalf(...costOf(open, mine, bits, seconds)) + ".";
    data.parts.forEach(([metric, name]) => {
      const [a, b] = [open, mine].map((one) => (one.parts || {})[metric] || 0);
      if (a === 0 && b === 0) return;
      const row = table.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = name;
      row.append(head);
      [open.error ? "–" : percent(a), percent(b)].forEach((text, index) => {
        const cell = row.insertCell();
        cell.className = index ? "n bar" : "n";
        if (index) cell.style.setProperty("--share", Math.min(100, 100 * b) + "%");
        cell.textContent = text;
      });
    });
  };

  // First a few short trials, then more and longer ones while no control moves.
  const answer = async () => {
    const begin = performance.now();
    const policy = control("policy").value;
    const tunnel = control("tunnel").value;
    const both = [choice(policy, tunnel), choice("open", "")];
    const isOpen = policy === "open" && tunnel === "";
    const ask = (trials, seconds) =>
      Promise.all(both.map((one) => simulated(one, trials, seconds)));
    const [mine, open] = await ask(data.trials, data.trial_s);
    const known = both.find((one) => one.scenario);
    const bits = known ? payloadBits(known) : 1;
    tell(mine, open, bits, data.trials, data.trial_s, isOpen);
    section.dataset.took = Math.round(performance.now() - begin);
    if (again || mine.error || mine.mean === 0) return;
    const seconds = lengthFor(open.error ? mine : open, bits);
    const longer = await ask(data.more_trials, seconds);
    if (!again) tell(...longer, bits, data.more_trials, seconds, isOpen);
  };

  // Choices that cannot be had with the other ones are not offered; the page says why.
  const offer = () => {
    const reasons = new Map();
    ["policy", "tunnel"].forEach((name) => {
      const other = name === "policy" ? "tunnel" : "policy";
      [...control(name).options].forEach((option) => {
        const pair = { [name]: option.value, [other]: control(other).value };
        const one = choice(pair.policy, pair.tunnel);
        option.disabled = Boolean(one.refused) && !option.selected;
        if (one.refused) reasons.set(option.textContent, one.refused);
      });
    });
    said("refused").textContent = [...reasons].map(
      ([words, reason]) => "Not offered: " + words + ": " + reason + ".").join(" ");
  };
  // Rates that this policy cannot have: each is tried for a moment.
  let offered = null;
  const offerRates = async () => {
    const one = choice(control("policy").value, control("tunnel").value);
    if (one.refused || one === offered) return;
    offered = one;
    for (const option of [...control("rate").options].slice(1)) {
      const rate = data.rates[Number(option.value)];
      const scenario = changed(one.scenario, { rate });
      scenario.warm_up_s = 0;
      scenario.duration_s = data.least_s;
      const { error } = await simulator.ask({ scenario, seeds: [1] });
      option.disabled = Boolean(error) && !option.selected;
    }
  };

  // One change at a time: those that come meanwhile are one further change.
  const show = async () => {
    if (section.dataset.busy) {
      again = true;
      return;
    }
    section.dataset.busy = "yes";
    do {
      again = false;
      await offerRates();
      await answer();
    } while (again);
    delete section.dataset.busy;
  };

  let begun = false;
  const begin = async () => {
    if (begun) return;
    begun = true;
    try {
      simulator = await openSimulatorInWorker().catch(openSimulator);
    } catch (problem) {
      said("throughput").textContent = "This browser cannot run the simulator: " + problem.message;
      return;
    }
    window.airtoll = { ...simulator, changed, choices: data.choices };
    offer();
    show();
  };
  section.addEventListener("input", (event) => {
    const name = event.target.name;
    const own = said(name);
    if (own) {
      moved.add(name);
      own.textContent = event.target.type === "range" ? event.target.value : "";
    }
    if (name === "rate") { if (event.target.value === "") moved.delete(name); else moved.add(name); }
    if (simulator) {
      offer();
      show();
    }
  });
  const fold = section.querySelector("details");
  fold.addEventListener("toggle", () => { if (fold.open) begin(); });
  if (fold.open) begin();
})();
