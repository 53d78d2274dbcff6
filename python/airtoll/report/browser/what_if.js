(() => {
  const section = document.getElementById("what-if");
  const data = JSON.parse(document.getElementById("what-if-data").textContent);
  const control = (name) => section.querySelector('[name="' + name + '"]');
  const said = (name) => section.querySelector('[data-of="' + name + '"]');
  const seeds = Array.from({ length: data.trials }, (_, index) => index + 1);
  const moved = new Set();
  let simulator = null;

  const wanted = () => {
    const found = {};
    moved.forEach((name) => { found[name] = Number(control(name).value); });
    if ("rate" in found) found.rate = data.rates[found.rate];
    return { ...found, path_loss: data.path_loss };
  };
  const choice = (policy, tunnel) =>
    data.choices.find((one) => one.policy === policy && one.tunnel === tunnel);

  const simulated = async (one) => {
    if (one.refused) return { error: one.refused };
    return simulator.ask({ scenario: changed(one.scenario, wanted()), seeds });
  };

  // Throughput of every trial, bit/s, and the mean share of the air of every part.
  const read = ({ columns }) => {
    const throughput = seeds.map(() => 0);
    const parts = {};
    columns.metric.forEach((metric, row) => {
      if (columns.second[row] !== null) return;
      if (metric === "throughput_bps") throughput[columns.trial[row]] += columns.value[row];
      else if (columns.flow[row] === null && columns.station[row] === null)
        parts[metric] = (parts[metric] || 0) + columns.value[row] / data.trials / data.trial_s;
    });
    const mean = throughput.reduce((sum, x) => sum + x, 0) / data.trials;
    const squares = throughput.reduce((sum, x) => sum + (x - mean) ** 2, 0);
    const half = data.student * Math.sqrt(squares / (data.trials - 1) / data.trials);
    return { mean, half, parts };
  };
  const mbps = (bps) => (bps / 1e6).toFixed(bps < 1e6 ? 3 : 2);
  const percent = (share) => (100 * share).toFixed(1) + " %";

  const answer = async () => {
    const begin = performance.now();
    const policy = control("policy").value;
    const tunnel = control("tunnel").value;
    const [found, base] = await Promise.all(
      [choice(policy, tunnel), choice("open", "")].map(simulated));
    const table = section.querySelector("tbody");
    table.replaceChildren();
    section.dataset.took = Math.round(performance.now() - begin);
    if (found.error || base.error) {
      said("throughput").textContent = found.error || base.error;
      said("cost").textContent = "";
      return;
    }
    const [mine, open] = [read(found), read(base)];
    said("throughput").textContent = mbps(mine.mean) + " ± " + mbps(mine.half) + " Mbit/s";
    const cost = (open.mean - mine.mean) / open.mean;
    said("cost").textContent = open.mean === 0 ? "Nothing arrives, with or without security."
      : policy === "open" && tunnel === "" ? "This is the network without security."
      : "Without security: " + mbps(open.mean) + " ± " + mbps(open.half) + " Mbit/s; overhead "
        + percent(cost) + ".";
    data.parts.forEach(([metric, name]) => {
      const [a, b] = [open.parts[metric] || 0, mine.parts[metric] || 0];
      if (a === 0 && b === 0) return;
      const row = table.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = name;
      row.append(head);
      [percent(a), percent(b)].forEach((text, index) => {
        const cell = row.insertCell();
        cell.className = index ? "n bar" : "n";
        if (index) cell.style.setProperty("--share", Math.min(100, 100 * b) + "%");
        cell.textContent = text;
      });
    });
  };

  // One change at a time: those that come meanwhile are one further change.
  let again = false;
  const show = async () => {
    if (section.dataset.busy) {
      again = true;
      return;
    }
    section.dataset.busy = "yes";
    do {
      again = false;
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
    if (simulator) show();
  });
  const fold = section.querySelector("details");
  fold.addEventListener("toggle", () => { if (fold.open) begin(); });
  if (fold.open) begin();
})();
