//! The graph in the languages of drawing tools.

use std::fmt::Write as _;

use super::GraphFormat;
use super::check::encoded;
use crate::check::plan_graph;
use crate::error::OkstraError;
use crate::graph::{Graph, Node};

/// Writes the graph of a plan.
pub fn render_graph(source: &[u8], format: GraphFormat) -> Result<String, OkstraError> {
    let graph = plan_graph(source)?;
    Ok(match format {
        GraphFormat::Json => encoded(&graph),
        GraphFormat::Mermaid => mermaid(&graph),
        GraphFormat::Dot => dot(&graph),
    })
}

/// A Mermaid flowchart: one box a stage, thick arrows and boxes on the critical path, dotted
/// arrows for dependencies that others imply.
fn mermaid(graph: &Graph) -> String {
    let mut out = String::from("flowchart LR\n");
    for node in &graph.nodes {
        let _ = writeln!(out, "  s{}[\"{}\"]", node.stage, label(node, "<br/>", mermaid_text));
    }
    let mut critical = Vec::new();
    for (at, edge) in graph.edges.iter().enumerate() {
        let arrow = if edge.transitive {
            "-.->"
        } else if edge.critical {
            critical.push(at);
            "==>"
        } else {
            "-->"
        };
        let _ = writeln!(out, "  s{} {arrow} s{}", edge.depends_on, edge.stage);
    }
    if !graph.critical_path.stages.is_empty() {
        let names: Vec<String> =
            graph.critical_path.stages.iter().map(|stage| format!("s{stage}")).collect();
        let _ = writeln!(out, "  classDef critical stroke-width:3px");
        let _ = writeln!(out, "  class {} critical", names.join(","));
    }
    out
}

/// Graphviz, one rank a wave.
fn dot(graph: &Graph) -> String {
    let mut out = String::from("digraph plan {\n  rankdir=LR;\n  node [shape=box];\n");
    for node in &graph.nodes {
        let style = if node.critical { ", penwidth=2" } else { "" };
        let _ =
            writeln!(out, "  s{} [label=\"{}\"{style}];", node.stage, label(node, "\\n", dot_text));
    }
    for (at, wave) in graph.waves.iter().enumerate() {
        let names: Vec<String> = wave.iter().map(|stage| format!("s{stage};")).collect();
        let _ = writeln!(out, "  subgraph wave_{} {{ rank=same; {} }}", at + 1, names.join(" "));
    }
    for edge in &graph.edges {
        let style = match (edge.transitive, edge.critical) {
            (true, _) => " [style=dotted]",
            (false, true) => " [penwidth=2]",
            (false, false) => "",
        };
        let _ = writeln!(out, "  s{} -> s{}{style};", edge.depends_on, edge.stage);
    }
    out.push_str("}\n");
    out
}

/// `1: title`, a line break, `3 steps`.
fn label(node: &Node, line_break: &str, escape: fn(&str) -> String) -> String {
    let plural = if node.steps == 1 { "" } else { "s" };
    format!("{}: {}{line_break}{} step{plural}", node.stage, escape(&node.title), node.steps)
}

/// Text inside a quoted Mermaid label, with everything special as an entity.
fn mermaid_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in crate::printable::printable(text).chars() {
        match ch {
            'a'..='z'
            | 'A'..='Z'
            | '0'..='9'
            | ' '
            | '.'
            | ','
            | '-'
            | '_'
            | '/'
            | ':'
            | '('
            | ')' => out.push(ch),
            _ if ch.is_alphanumeric() => out.push(ch),
            _ => {
                let _ = write!(out, "#{};", u32::from(ch));
            }
        }
    }
    out
}

/// Text inside a quoted Graphviz label.
fn dot_text(text: &str) -> String {
    crate::printable::printable(text).replace('\\', "\\\\").replace('"', "\\\"")
}
