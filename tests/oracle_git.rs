//! The tree against the real git: the same random trees as entries of a session and as commits of
//! a repository must give the same merge bases, ancestors, paths and ranges.
//!
//! Both sides are asked in batches where they can be, so that hundreds of trees take seconds.
//! Without git on the machine there is nothing to compare with, which is said and passed.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::common::{Build, World};

/// A small generator of numbers (splitmix64), so that a seed means the same tree for ever.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("less than n")
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A tree by its parents: entry `n` hangs on `parents[n]`, which is smaller.
struct Shape {
    parents: Vec<Option<usize>>,
    /// The entries in the order of the file, which pi need not keep to that of the tree.
    order: Vec<usize>,
}

impl Shape {
    fn new(parents: Vec<Option<usize>>) -> Shape {
        let order = (0..parents.len()).collect();
        Shape { parents, order }
    }

    /// Mostly one chain with branches here and there, or anything at all.
    fn random(rng: &mut Rng, len: usize, roots: usize) -> Shape {
        let chained = rng.below(100);
        let parent = |n: usize, rng: &mut Rng| match n {
            0 => None,
            _ if n < roots || (roots > 1 && rng.chance(5)) => None,
            _ if rng.chance(chained) => Some(n - 1),
            _ => Some(rng.below(n)),
        };
        let parents = (0..len).map(|n| parent(n, rng)).collect();
        Shape::new(parents)
    }

    /// The same tree with its lines in any order.
    fn shuffled(mut self, rng: &mut Rng) -> Shape {
        for n in (1..self.order.len()).rev() {
            self.order.swap(n, rng.below(n + 1));
        }
        self
    }

    fn depth(&self, mut n: usize) -> usize {
        let mut depth = 0;
        while let Some(parent) = self.parents[n] {
            (n, depth) = (parent, depth + 1);
        }
        depth
    }
}

fn id(n: usize) -> String {
    format!("{:08x}", 0x0abc_0000 + n)
}

/// A session of the shape, of messages and bookkeeping: the tree is the same whatever hangs in it.
fn session(shape: &Shape, rng: &mut Rng) -> String {
    let mut build = Build::new();
    for &n in &shape.order {
        let parent = shape.parents[n].map(id).unwrap_or_default();
        build = match rng.below(6) {
            0 => build.entry(
                &id(n),
                &parent,
                json!({ "type": "custom", "customType": "x" }),
            ),
            1 => build.assistant(&id(n), &parent, "yes"),
            _ => build.user(&id(n), &parent, "do it"),
        };
    }
    build.text()
}

/// A repository that holds one tree after another, and the commit of each entry of the last one.
struct Repo {
    world: World,
    commits: Vec<String>,
    entries: HashMap<String, usize>,
}

/// An empty repository, or `None` where there is no git.
fn repo() -> Option<Repo> {
    let world = World::new();
    let found = git(&world.work())
        .args(["init", "-q", "--bare", "r"])
        .output();
    let Ok(output) = found else {
        // Past the test harness, which would keep it to itself.
        let _ = writeln!(
            std::io::stderr(),
            "git is not installed: nothing to compare with"
        );
        return None;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(Repo {
        world,
        commits: Vec::new(),
        entries: HashMap::new(),
    })
}

/// git, with nothing of the outer environment but where programs are.
#[expect(clippy::disallowed_methods, reason = "where programs are")]
fn git(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::null());
    command
}

impl Repo {
    fn git(&self) -> Command {
        git(&self.world.path("r"))
    }

    /// What git prints, and whether it ended well.
    fn asks(&self, args: &[&str]) -> (bool, String) {
        let output = self.git().args(args).output().expect("git runs");
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    }

    /// Makes the commits of a tree.
    fn import(&mut self, shape: &Shape) {
        let mut stream = String::new();
        for (n, parent) in shape.parents.iter().enumerate() {
            let (mark, time) = (n + 1, 1_700_000_000 + n);
            // Without a parent of its own a commit would hang on the one before.
            stream.push_str("reset refs/heads/t\n");
            stream.push_str(&format!("commit refs/heads/t\nmark :{mark}\n"));
            stream.push_str(&format!(
                "committer N <n@n> {time} +0000\ndata 8\n{}\n",
                id(n)
            ));
            if let Some(parent) = parent {
                stream.push_str(&format!("from :{}\n", parent + 1));
            }
            stream.push('\n');
        }
        let mut command = self.git();
        command.args(["fast-import", "--quiet", "--force", "--export-marks=marks"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("git starts");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(stream.as_bytes()).expect("git reads");
        drop(input);
        assert!(child.wait().expect("git runs").success(), "{stream}");
        let marks = std::fs::read_to_string(self.world.path("r/marks")).expect("marks");
        self.commits = vec![String::new(); shape.parents.len()];
        self.entries.clear();
        for line in marks.lines() {
            let (mark, commit) = line[1..].split_once(' ').expect("a mark");
            let n = mark.parse::<usize>().expect("a number") - 1;
            commit.clone_into(&mut self.commits[n]);
            self.entries.insert(commit.to_owned(), n);
        }
    }

    /// git's lines with each commit replaced by the id of its entry.
    fn ids(&self, lines: &str) -> Vec<String> {
        let of = |line: &str| {
            let at = line.len() - line.trim_start_matches(['<', '>', '^']).len();
            format!("{}{}", &line[..at], id(self.entries[&line[at..]]))
        };
        lines.lines().map(of).collect()
    }
}

/// What pis prints for a revision or pair, made from what git is asked.
struct Sides<'a> {
    repo: &'a Repo,
    shape: &'a Shape,
}

impl Sides<'_> {
    fn pis(&self, args: &[&str]) -> (i32, Vec<String>) {
        // Notes would tell of leaves on odd branches.
        let mut all = vec!["-q", "-s", "./s.jsonl"];
        all.extend(args);
        let ran = self.repo.world.pis(&all);
        assert_eq!(ran.stderr, "", "pis {args:?}");
        (ran.code, ran.stdout.lines().map(str::to_owned).collect())
    }

    fn lines(&self, args: &[&str]) -> Vec<String> {
        let (code, lines) = self.pis(args);
        assert_eq!(code, 0, "pis {args:?}");
        lines
    }

    fn rev_list(&self, args: &[&str]) -> Vec<String> {
        let mut all = vec!["rev-list", "--topo-order"];
        all.extend(args);
        let (ok, out) = self.repo.asks(&all);
        assert!(ok, "git {args:?}");
        self.repo.ids(&out)
    }

    /// Spells a range, as pis and as git read it.
    fn range(&self, a: usize, dots: &str, b: usize) -> (String, String) {
        let commits = &self.repo.commits;
        (
            format!("{}{dots}{}", id(a), id(b)),
            format!("{}{dots}{}", commits[a], commits[b]),
        )
    }

    /// The bases of many pairs: `rev-parse A...B` prints B, A and the base behind a `^`.
    fn bases(&self, pairs: &[(usize, usize)]) {
        let ranges: Vec<_> = pairs
            .iter()
            .map(|&(a, b)| self.range(a, "...", b))
            .collect();
        let ours: Vec<_> = ranges.iter().map(|(ours, _)| ours.as_str()).collect();
        let theirs: Vec<_> = ranges.iter().map(|(_, theirs)| theirs.as_str()).collect();
        let ours = self.lines(&[&["rev-parse"][..], &ours].concat());
        let (ok, out) = self.repo.asks(&[&["rev-parse"][..], &theirs].concat());
        assert!(ok, "git rev-parse");
        let theirs = self.repo.ids(&out);
        assert_eq!(ours, theirs, "rev-parse of {pairs:?}");
    }

    /// `merge-base`, with its exit code, and `--is-ancestor`.
    fn merge_base(&self, a: usize, b: usize) {
        let commits = &self.repo.commits;
        let (ok, out) = self.repo.asks(&["merge-base", &commits[a], &commits[b]]);
        let (code, lines) = self.pis(&["merge-base", &id(a), &id(b)]);
        assert_eq!(
            (code == 0, lines),
            (ok, self.repo.ids(&out)),
            "merge-base {a} {b}"
        );
        assert!(code <= 1);
        let (ok, _) = self
            .repo
            .asks(&["merge-base", "--is-ancestor", &commits[a], &commits[b]]);
        let (code, _) = self.pis(&["merge-base", "--is-ancestor", &id(a), &id(b)]);
        assert_eq!(code, i32::from(!ok), "merge-base --is-ancestor {a} {b}");
    }

    /// `A..B` and its options.
    fn two_dots(&self, a: usize, b: usize, n: usize) {
        let (ours, theirs) = self.range(a, "..", b);
        let wanted = self.rev_list(&["--reverse", &theirs]);
        assert_eq!(self.lines(&["rev-path", &ours]), wanted, "{ours}");
        let n = n.to_string();
        let wanted = self.rev_list(&["--reverse", "-n", &n, &theirs]);
        assert_eq!(
            self.lines(&["rev-path", "-n", &n, &ours]),
            wanted,
            "-n {n} {ours}"
        );
    }

    /// `A...B`: the same entries with the same marks; on each side from the root downwards.
    fn three_dots(&self, a: usize, b: usize) {
        let (ours, theirs) = self.range(a, "...", b);
        let got = self.lines(&["rev-path", "--left-right", &ours]);
        let wanted = self.rev_list(&["--reverse", "--left-right", &theirs]);
        for mark in ['<', '>'] {
            let side = |lines: &[String]| -> Vec<String> {
                lines
                    .iter()
                    .filter(|line| line.starts_with(mark))
                    .cloned()
                    .collect()
            };
            assert_eq!(side(&got), side(&wanted), "{ours}");
        }
        assert_eq!(got.len(), wanted.len(), "{ours}");
    }

    /// The path to an entry, and how long it is.
    fn path(&self, a: usize) {
        let (ours, theirs) = (id(a), &self.repo.commits[a]);
        let mut wanted = self.rev_list(&["--reverse", theirs]);
        assert_eq!(self.lines(&["rev-path", &ours]), wanted, "{ours}");
        assert_eq!(
            self.lines(&["rev-path", "--count", &ours]),
            [wanted.len().to_string()]
        );
        wanted.reverse();
        assert_eq!(
            self.lines(&["rev-path", "--reverse", &ours]),
            wanted,
            "{ours}"
        );
    }

    /// Steps upwards from many entries, past the root, too, spelled in every way.
    fn steps(&self, rng: &mut Rng, count: usize) {
        let (mut ours, mut theirs) = (String::new(), String::new());
        for _ in 0..count {
            let n = rng.below(self.shape.parents.len());
            let up = rng.below(self.shape.depth(n) + 3);
            let suffix = match rng.below(4) {
                0 if up < 20 => "^".repeat(up),
                1 if up > 0 => format!("~{}^", up - 1),
                2 if up > 1 => format!("^~{}", up - 1),
                _ => format!("~{up}"),
            };
            ours.push_str(&format!("{}{suffix}\n", id(n)));
            theirs.push_str(&format!("{}{suffix}\n", self.repo.commits[n]));
        }
        let ran = self.repo.world.pis_with(
            &["-q", "-s", "./s.jsonl", "cat-entry", "--batch-check"],
            &ours,
        );
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        let mut command = self.repo.git();
        command
            .args(["cat-file", "--batch-check"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("git starts");
        let mut input = child.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || input.write_all(theirs.as_bytes()));
        let output = child.wait_with_output().expect("git runs");
        writer.join().expect("the writer ends").expect("git reads");
        let theirs = String::from_utf8_lossy(&output.stdout);
        let theirs = theirs
            .lines()
            .map(|line| match line.split_once(" commit ") {
                Some((commit, _)) => id(self.repo.entries[commit]),
                None => "missing".to_owned(),
            });
        let got = ran
            .stdout
            .lines()
            .map(|line| match line.strip_suffix(" missing") {
                Some(_) => "missing".to_owned(),
                None => line.split(' ').next().unwrap_or_default().to_owned(),
            });
        let (got, theirs): (Vec<_>, Vec<_>) = (got.collect(), theirs.collect());
        assert_eq!(
            (got.len(), theirs.len()),
            (count, count),
            "an answer a line"
        );
        for ((ours, theirs), rev) in got.iter().zip(&theirs).zip(ours.lines()) {
            assert_eq!(ours, theirs, "{rev}");
        }
    }
}

/// Builds both sides of a tree and asks them the same.
fn compare(repo: &mut Repo, shape: &Shape, rng: &mut Rng, single_questions: usize) {
    repo.import(shape);
    repo.world.write("s.jsonl", session(shape, rng));
    let sides = Sides { repo, shape };
    let len = shape.parents.len();
    let pairs: Vec<_> = (0..2 * len.min(25))
        .map(|_| (rng.below(len), rng.below(len)))
        .collect();
    sides.bases(&pairs);
    sides.steps(rng, 3 * len.min(40));
    for _ in 0..single_questions {
        let (a, b) = (rng.below(len), rng.below(len));
        match rng.below(4) {
            0 => sides.merge_base(a, b),
            1 => sides.two_dots(a, b, rng.below(len)),
            2 => sides.three_dots(a, b),
            _ => sides.path(a),
        }
    }
}

#[expect(
    clippy::print_stdout,
    reason = "shown by the harness where a test fails"
)]
fn compare_many(seed: u64, count: usize, mut shape: impl FnMut(&mut Rng) -> Shape) {
    let Some(mut repo) = repo() else { return };
    for n in 0..count {
        let mut rng = Rng(seed + n as u64);
        let shape = shape(&mut rng);
        println!("seed {}: {:?}", seed + n as u64, shape.parents);
        compare(&mut repo, &shape, &mut rng, 2);
    }
}

#[test]
fn random_trees() {
    compare_many(1000, 90, |rng| {
        let len = 1 + rng.below(30);
        Shape::random(rng, len, 1)
    });
}

#[test]
fn trees_with_several_roots() {
    compare_many(2000, 60, |rng| {
        let (len, roots) = (2 + rng.below(30), 2 + rng.below(3));
        Shape::random(rng, len, roots)
    });
}

#[test]
fn trees_whose_lines_are_in_any_order() {
    compare_many(3000, 50, |rng| {
        let (len, roots) = (2 + rng.below(30), 1 + rng.below(2));
        Shape::random(rng, len, roots).shuffled(rng)
    });
}

#[test]
fn deep_chains_and_wide_stars() {
    let Some(mut repo) = repo() else { return };
    let mut rng = Rng(4000);
    let chain = |n: usize| n.checked_sub(1);
    // Two long branches behind a long trunk; a star; a comb; a broom; a chain backwards.
    let shapes: [Vec<Option<usize>>; 5] = [
        (0..3000)
            .map(|n| if n == 2000 { Some(999) } else { chain(n) })
            .collect(),
        (0..2000).map(|n| (n > 0).then_some(0)).collect(),
        (0..1000)
            .map(|n| chain(n).map(|_| if n % 2 == 1 { n - 1 } else { n - 2 }))
            .collect(),
        (0..1000)
            .map(|n| if n < 500 { chain(n) } else { Some(499) })
            .collect(),
        (0..1000).map(chain).collect(),
    ];
    for (n, parents) in shapes.into_iter().enumerate() {
        let mut shape = Shape::new(parents);
        if n == 4 {
            shape.order.reverse();
        }
        compare(&mut repo, &shape, &mut rng, 8);
    }
}
