//! Which compose file is meant.

use super::ContainerRefusal;
use crate::decode::decode;
use crate::layout::relative_inside;

/// The names of compose files, in the order in which compose looks for them.
const MAIN: [&str; 4] =
    ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];

/// The names of the files that compose adds to one that it has found itself. Named one by one, it
/// adds none.
const OVERRIDE: [&str; 4] = [
    "compose.override.yml",
    "compose.override.yaml",
    "docker-compose.override.yml",
    "docker-compose.override.yaml",
];

/// All names to look for.
pub(super) fn names() -> Vec<String> {
    MAIN.into_iter().chain(OVERRIDE).map(str::to_owned).collect()
}

/// A file that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ComposeCandidate {
    /// Its path relative to the project's folder.
    pub path: String,
    /// What it leads to where it is a link in the commit.
    pub link: Option<String>,
    /// Its real path in the worktree, once that is there.
    pub real: Option<String>,
}

decode!(ComposeCandidate { path, link, real });

/// The compose files, relative to the project's folder `worktree`: the one that a person names, or
/// the only one that compose would find, with its override.
pub(super) fn choose(
    worktree: &str,
    wanted: Option<&str>,
    found: &[ComposeCandidate],
) -> Result<Vec<String>, ContainerRefusal> {
    let files = match wanted {
        Some(path) => vec![named(worktree, path, found)?],
        None => discovered(found)?,
    };
    for file in &files {
        if let Some(to) =
            found.iter().find(|it| it.path == *file).and_then(|it| leaves(worktree, it))
        {
            return Err(ContainerRefusal::FileOutside { path: file.clone(), to });
        }
    }
    Ok(files)
}

fn named(
    worktree: &str,
    path: &str,
    found: &[ComposeCandidate],
) -> Result<String, ContainerRefusal> {
    let inside = relative_inside(worktree, path).filter(|path| !path.is_empty());
    let Some(inside) = inside else {
        return Err(ContainerRefusal::FileOutside { path: path.to_owned(), to: path.to_owned() });
    };
    if found.iter().any(|it| it.path == inside) {
        return Ok(inside);
    }
    Err(ContainerRefusal::NoFile { wanted: Some(inside) })
}

fn discovered(found: &[ComposeCandidate]) -> Result<Vec<String>, ContainerRefusal> {
    let of = |names: &[&str]| -> Vec<String> {
        let there = |name: &&&str| found.iter().any(|it| it.path == **name);
        names.iter().filter(there).map(|&name| name.to_owned()).collect()
    };
    let (main, more) = (of(&MAIN), of(&OVERRIDE));
    if main.is_empty() {
        return Err(ContainerRefusal::NoFile { wanted: None });
    }
    for paths in [&main, &more] {
        if paths.len() > 1 {
            return Err(ContainerRefusal::SeveralFiles { paths: paths.clone() });
        }
    }
    Ok(main.into_iter().chain(more).collect())
}

/// Where a file leads that is not in the worktree.
fn leaves(worktree: &str, file: &ComposeCandidate) -> Option<String> {
    if let Some(to) = &file.link {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = if folder.is_empty() { to.clone() } else { format!("{folder}/{to}") };
        // An absolute path would be one of this machine, even where it is inside.
        if to.starts_with('/') || relative_inside(worktree, &path).is_none() {
            return Some(to.clone());
        }
    }
    let real = file.real.as_ref()?;
    let start = format!("{}/", worktree.trim_end_matches('/'));
    (!real.starts_with(&start)).then(|| real.clone())
}

#[cfg(test)]
mod tests {
    use super::{ComposeCandidate, choose};

    fn file(path: &str) -> ComposeCandidate {
        ComposeCandidate { path: path.to_owned(), link: None, real: None }
    }

    fn chosen(wanted: Option<&str>, found: &[ComposeCandidate]) -> Result<Vec<String>, String> {
        choose("/w", wanted, found).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn the_file_that_compose_would_find() {
        let both = [file("docker-compose.override.yml"), file("docker-compose.yaml")];
        assert_eq!(
            chosen(None, &both),
            Ok(vec![
                String::from("docker-compose.yaml"),
                String::from("docker-compose.override.yml")
            ])
        );
        // The one that a person names has no company.
        let named = chosen(Some("./docker-compose.yaml"), &both);
        assert_eq!(named, Ok(vec![String::from("docker-compose.yaml")]));
        for (found, says) in [
            (vec![], "no compose file"),
            (vec![file("compose.override.yml")], "no compose file"),
            (
                vec![file("docker-compose.yml"), file("compose.yaml")],
                "several compose files: compose.yaml, docker-compose.yml",
            ),
            (
                vec![
                    file("compose.yaml"),
                    file("compose.override.yaml"),
                    file("compose.override.yml"),
                ],
                "several compose files: compose.override.yml, compose.override.yaml",
            ),
        ] {
            let refusal = chosen(None, &found).err().unwrap_or_default();
            assert!(refusal.contains(says), "{refusal}");
        }
    }

    #[test]
    fn nothing_outside_the_worktree() {
        for bad in ["../x.yaml", "/etc/x.yaml", "a/../../x.yaml", ""] {
            assert!(chosen(Some(bad), &[file("x.yaml")]).is_err(), "{bad}");
        }
        let link = |to: &str| ComposeCandidate {
            path: String::from("deploy/c.yaml"),
            link: Some(to.to_owned()),
            real: None,
        };
        for (to, fine) in [
            ("../compose.yaml", true),
            ("other.yaml", true),
            ("../../compose.yaml", false),
            ("/etc/passwd", false),
            ("/w/compose.yaml", false),
        ] {
            assert_eq!(chosen(Some("deploy/c.yaml"), &[link(to)]).is_ok(), fine, "{to}");
        }
        for (real, fine) in [("/w/c.yaml", true), ("/w2/c.yaml", false), ("/project/c.yaml", false)]
        {
            let found = ComposeCandidate {
                path: String::from("compose.yaml"),
                link: None,
                real: Some(real.to_owned()),
            };
            assert_eq!(chosen(None, &[found]).is_ok(), fine, "{real}");
        }
    }
}
