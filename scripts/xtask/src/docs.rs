//! Rust doc comments for readers of TypeScript.

/// Turns links to Rust items into plain code: ``[`crate::graph::Graph`]`` becomes `` `Graph` ``.
pub(crate) fn plain(docs: &str) -> String {
    let mut out = String::with_capacity(docs.len());
    let mut rest = docs;
    while let Some((before, link)) = rest.split_once("[`") {
        out.push_str(before);
        let Some((item, behind)) = link.split_once("`]") else {
            out.push_str("[`");
            rest = link;
            continue;
        };
        out.push('`');
        out.push_str(item.rsplit("::").next().unwrap_or(item));
        out.push('`');
        rest = behind;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn links_become_code() {
        assert_eq!(plain("[`a::B`] and [`C`]s, [x](y)"), "`B` and `C`s, [x](y)");
        assert_eq!(plain("open [`a"), "open [`a");
    }
}
