// A scenario with other numbers: payload in octets, rate (as a scenario has it), distance of every
// station from its access point in metres with the path loss, number of stations. A number that is
// not in `wanted` stays.
const changed = (scenario, wanted) => {
  const made = structuredClone(scenario);
  const isStation = (node) => node.role === "station";
  if ("payload" in wanted)
    made.flows.forEach((flow) => { flow.pattern.payload_octets = wanted.payload; });
  if ("rate" in wanted) {
    made.bss.forEach((bss) => { bss.rate = wanted.rate; });
    made.nodes.forEach((node) => { if (!node.standard) delete node.rate; });
  }
  if ("distance" in wanted) {
    const isItsAp = (station) => (node) =>
      node.role === "access_point" && node.bss === station.bss;
    made.radio = { ...made.radio, path_loss: wanted.path_loss, budgets: [] };
    made.nodes.filter(isStation).forEach((node) => {
      const at = made.nodes.find(isItsAp(node)).position_m || [0, 0, 0];
      node.position_m = [at[0] + wanted.distance, at[1], at[2]];
    });
  }
  if ("stations" in wanted) {
    const all = made.nodes.filter(isStation).map((node) => node.name);
    const kept = new Set(all.slice(0, wanted.stations));
    const gone = new Set(all.filter((name) => !kept.has(name)));
    const stays = (names) => !names.some((name) => gone.has(name));
    made.nodes = made.nodes.filter((node) => !gone.has(node.name));
    made.flows = made.flows.filter((flow) => stays([flow.source, flow.destination]));
    const budgets = ((made.radio || {}).budgets || []).filter((budget) => stays(budget.nodes));
    const first = all[0];
    const node = made.nodes.find((one) => one.name === first);
    const flows = made.flows.filter((flow) => [flow.source, flow.destination].includes(first));
    const own = budgets.filter((budget) => budget.nodes.includes(first));
    for (let number = all.length + 1; number <= wanted.stations; number += 1) {
      const name = "copy " + number + " of " + first;
      const named = (old) => (old === first ? name : old);
      made.nodes.push({ ...structuredClone(node), name });
      flows.forEach((flow) => made.flows.push({
        ...structuredClone(flow), name: name + " " + flow.name, station: name,
        source: named(flow.source), destination: named(flow.destination) }));
      own.forEach((budget) => budgets.push({ ...budget, nodes: budget.nodes.map(named) }));
    }
    if (made.radio) made.radio.budgets = budgets;
  }
  return made;
};
