//! The layering of the simulator's modules, read from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut open = vec![root.clone()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).expect("a folder of sources");
        for path in entries.map(|e| e.expect("an entry").path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(&root).expect("below the root");
                let text = fs::read_to_string(&path).expect("a source");
                found.push((unix(name), text));
            }
        }
    }
    found.sort();
    found
}

fn unix(path: &Path) -> String {
    let parts = path.iter().map(|p| p.to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

/// Whether a file holds tests only.
fn is_test(name: &str) -> bool {
    name.split('/')
        .any(|part| part == "tests" || part == "tests.rs")
}

/// Code without comments and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let lines = text.lines().map(|l| l.split("//").next().unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

/// The top-level module of a file.
fn module(name: &str) -> String {
    let first = PathBuf::from(name);
    let first = first.iter().next().expect("a name").to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// Top-level modules that a text names as `crate::module`.
fn named(code: &str) -> BTreeSet<String> {
    let rest = code.split("crate::").skip(1);
    let word = |r: &str| {
        let end = r.find(|c: char| !c.is_alphanumeric() && c != '_');
        r[..end.unwrap_or(r.len())].to_owned()
    };
    rest.map(word).collect()
}

#[test]
fn modules_import_one_another_without_a_cycle() {
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, text) in sources() {
        if is_test(&name) || name == "lib.rs" {
            continue;
        }
        let own = module(&name);
        let others = named(&code(&text));
        graph.entry(own).or_default().extend(others);
    }
    let modules: BTreeSet<String> = graph.keys().cloned().collect();
    assert!(modules.len() > 15, "{modules:?}");
    for (own, others) in &mut graph {
        others.retain(|o| modules.contains(o) && o != own);
    }
    // Modules that import none of the rest are removed, until none is left.
    loop {
        let done: Vec<String> = graph
            .iter()
            .filter(|(_, others)| others.is_empty())
            .map(|(own, _)| own.clone())
            .collect();
        if done.is_empty() {
            break;
        }
        for module in &done {
            graph.remove(module);
        }
        for others in graph.values_mut() {
            others.retain(|o| !done.contains(o));
        }
    }
    assert!(graph.is_empty(), "a cycle among {graph:?}");
}

#[test]
fn only_the_world_and_its_builder_name_the_world() {
    for (name, text) in sources() {
        let may = ["lib.rs", "world.rs", "build.rs"].contains(&name.as_str())
            || name.starts_with("build/")
            || is_test(&name);
        let words = code(&text);
        let mut words = words.split(|c: char| !c.is_alphanumeric() && c != '_');
        assert!(may || !words.any(|w| w == "World"), "{name} names World");
    }
}

#[test]
fn subsystems_emit_and_name_no_observer() {
    for (name, text) in sources() {
        let may = ["observe", "context", "report", "build"].contains(&module(&name).as_str());
        if may || is_test(&name) {
            continue;
        }
        assert!(!code(&text).contains(".observers"), "{name}");
    }
}

/// Names of parameters and fields that hold a handle.
const HANDLES: [&str; 20] = [
    "access_point",
    "agent",
    "channel",
    "contender",
    "flow",
    "handover",
    "host",
    "link",
    "mode",
    "neighbour",
    "node",
    "packet",
    "peer",
    "reservation",
    "session",
    "signal",
    "station",
    "transmission",
    "tunnel",
    "wire",
];

#[test]
fn handles_are_typed() {
    // Scenarios and closed forms name nodes by strings, and TCP knows no nodes.
    let outside = ["analytic", "id", "outcome", "scenario", "transport"];
    for (name, text) in sources() {
        if is_test(&name) || outside.contains(&module(&name).as_str()) {
            continue;
        }
        let code = code(&text);
        for handle in HANDLES {
            for raw in ["u32", "usize", "Option<u32>", "Option<usize>"] {
                let typed = format!("{handle}: {raw}");
                let mut found = code.match_indices(&typed);
                let whole = |at: usize| {
                    let word = |c: char| c.is_alphanumeric() || c == '_';
                    !code[..at].ends_with(word) && !code[at + typed.len()..].starts_with(word)
                };
                assert!(!found.any(|(at, _)| whole(at)), "{name}: {typed}");
            }
        }
        assert!(
            !code.contains("NONE: u32"),
            "{name}: a number for no handle"
        );
    }
}

/// The fields of a struct, one line each.
fn fields(text: &str, name: &str) -> Vec<String> {
    let from = text
        .find(&format!("struct {name} {{\n"))
        .unwrap_or_else(|| panic!("no struct {name}"));
    let body = &text[from..];
    let body = &body[body.find('\n').unwrap_or(0)..body.find("\n}").expect("its end")];
    let lines = body
        .lines()
        .map(|l| l.split("//").next().unwrap_or("").trim());
    lines
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn subsystems_own_their_state() {
    let sources: BTreeMap<String, String> = sources().into_iter().collect();
    for (file, name) in [
        ("medium.rs", "Medium"),
        ("medium.rs", "Node"),
        ("medium/channel.rs", "Channel"),
        ("medium/radio.rs", "Radio"),
        ("mac.rs", "Mac"),
        ("mac.rs", "Node"),
        ("mac/exchange.rs", "FrameExchange"),
        ("mac/mode.rs", "Mode"),
        ("observe.rs", "Observers"),
        ("observe/metrics.rs", "FlowMetrics"),
        ("device.rs", "Device"),
        ("device.rs", "Node"),
        ("net.rs", "Net"),
        ("net.rs", "Node"),
        ("net/resolution.rs", "Resolution"),
        ("net/tunnel.rs", "TunnelEnd"),
        ("flow.rs", "Flows"),
        ("flow.rs", "Flow"),
        ("flow/outlet.rs", "PacketForm"),
        ("flow/socket.rs", "UdpSocket"),
        ("flow/connection.rs", "Connection"),
        ("flow/connection.rs", "Half"),
        ("join.rs", "Join"),
        ("join.rs", "Signal"),
        ("join/session.rs", "Parties"),
        ("roam.rs", "Roam"),
    ] {
        let fields = fields(&sources[file], name);
        assert!(!fields.is_empty(), "{file}: {name}");
        let open = fields.iter().find(|f| f.starts_with("pub"));
        assert_eq!(open, None, "{file}: {name}");
    }
    // Files of one subsystem see its links; other subsystems ask by methods.
    let links = fields(&sources["mac/link.rs"], "TxLink");
    let open = links.iter().find(|f| !f.starts_with("pub(super) "));
    assert_eq!(open, None);
    assert!(fields(&sources["world.rs"], "World").len() <= 14);
}

/// Structs of a file that other subsystems can name, each with its fields.
fn shared_structs(code: &str) -> Vec<(String, Vec<String>)> {
    let starts = code.match_indices("struct ").filter(|(at, _)| {
        let line = code[..*at].rsplit('\n').next().unwrap_or("");
        line == "pub " || line == "pub(crate) "
    });
    let name = |rest: &str| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        rest[..end.unwrap_or(rest.len())].to_owned()
    };
    let names = starts.map(|(at, word)| name(&code[at + word.len()..]));
    names
        .filter(|name| code.contains(&format!("struct {name} {{\n")))
        .map(|name| (name.clone(), fields(code, &name)))
        .collect()
}

#[test]
fn a_struct_is_plain_data_or_keeps_all_of_its_fields_in_its_subsystem() {
    let mut seen = 0;
    for (file, text) in sources() {
        if is_test(&file) {
            continue;
        }
        for (name, fields) in shared_structs(&code(&text)) {
            seen += 1;
            let open = |f: &&String| f.starts_with("pub ") || f.starts_with("pub(crate)");
            let public = fields.iter().filter(open).count();
            let state = [("mac/link.rs", "TxLink"), ("mac/link.rs", "Mpdu")];
            let whole = public == fields.len() && !state.contains(&(&*file, &*name));
            assert!(public == 0 || whole, "{file}: {name}");
        }
    }
    assert!(seen > 60, "{seen}");
}
