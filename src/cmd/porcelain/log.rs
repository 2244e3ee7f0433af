//! `pis log`.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use clap::{Args, ValueHint};
use regex::Regex;

use crate::cli::{Context, Exit, Failure, complete, since};
use crate::cmd::Listing;
use crate::cmd::plumbing::selection::{Selection, Wanted};
use crate::cmd::ranges::{Entries, entries_of};
use crate::entry::{self, Entry, Role};
use crate::error::Result;
use crate::follow::Follower;
use crate::json::Raw;
use crate::session::Session;
use crate::store::discover::Places;
use crate::store::index::Ix;
use crate::ui::calls;
use crate::ui::filter::Filter;
use crate::ui::full::{Detail, Full};
use crate::ui::graph::{Drawing, View, is_cut};
use crate::ui::record::{Marks, OnPath};
use crate::ui::rows::{Layout, Row};
use crate::ui::stat::Stat;

/// Show what was said, newest first
///
/// Without a revision, the path to the leaf; with --graph or --all, all branches. A..B shows what
/// is on the path to B and not on the path to A. Tool calls and their results fold into a count on
/// the message that ends them, unless --filter shows them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis log --graph
  pis log --oneline -n 20
  pis log good..@ --role user
  pis log --grep 'panic' --since '2 days ago'
  pis log -p -n 3
  pis log --graph --stat
  pis log -p -- src/auth.rs
  pis log --json | jq -r 'select(.label != null) | .label'
  pis log --format '%h %ar %s'")]
pub(crate) struct Log {
    /// Draw how the branches hang together
    #[arg(long, conflicts_with = "reverse")]
    graph: bool,
    /// Show all branches
    #[arg(long, conflicts_with = "revs")]
    all: bool,
    /// Show id and text only
    #[arg(long)]
    oneline: bool,
    /// Show at most N entries
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    number: Option<usize>,
    /// Show the oldest first
    #[arg(long)]
    reverse: bool,
    /// What is shown: no-tools, or with --json everything
    #[arg(long, value_enum, value_name = "FILTER")]
    filter: Option<Filter>,
    #[command(flatten)]
    selection: Selection,
    /// Only entries whose text matches this regular expression
    #[arg(long, value_name = "REGEX")]
    grep: Option<Regex>,
    /// Only entries at or after this time, such as 2026-01-31 or '2 days ago'
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only entries at or before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Show each entry in full, as `pis show` does: edits as diffs, tool calls with their results
    #[arg(short = 'p', long = "patch", conflicts_with_all = ["oneline", "stat"])]
    patch: bool,
    /// Show files changed, tools called, tokens and cost
    #[arg(long)]
    stat: bool,
    /// Wait for new entries and show them as they come; begins with the last ten, or -n
    #[arg(short = 'f', long, conflicts_with_all = ["graph", "all", "reverse", "revs"])]
    follow: bool,
    /// Draw with ASCII only
    #[arg(long)]
    ascii: bool,
    /// Revisions or ranges
    #[arg(value_name = "REV|RANGE", add = complete::revisions())]
    revs: Vec<String>,
    /// Only answers that call a tool on these files, or on files below these directories
    #[arg(last = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
}

/// Files that tools were called on.
struct Touched {
    /// Absolute.
    wanted: Vec<PathBuf>,
    /// Where the session ran: what its paths are relative to.
    places: Places,
}

impl Touched {
    fn new(context: &Context, session: &Session, paths: &[PathBuf]) -> Option<Touched> {
        let cwd = session.header().cwd.as_deref().map(Path::new);
        let places = context.places_at(cwd);
        // Typed in another directory, a path may be meant from here or from where the session ran.
        let resolve = |path: &PathBuf| [context.places().resolve(path), places.resolve(path)];
        let wanted = paths.iter().flat_map(resolve).collect();
        (!paths.is_empty()).then_some(Touched { wanted, places })
    }

    fn is_by(&self, session: &Session, ix: Ix) -> Result<bool> {
        if session.role(ix) != Role::Assistant {
            return Ok(false);
        }
        let line = session.line(ix)?;
        let is_wanted = |call: Raw<'_>| {
            let path = calls::path(call.get("arguments").unwrap_or_default());
            let path = path.map(|path| self.places.resolve(Path::new(&*path)));
            path.is_some_and(|path| self.wanted.iter().any(|wanted| path.starts_with(wanted)))
        };
        Ok(Entry::new(&line).blocks("toolCall").any(is_wanted))
    }
}

/// What decides whether an entry is shown.
struct Shown {
    filter: Option<Filter>,
    /// Whether answers without text are shown, because what they call is.
    calls: bool,
    wanted: Wanted,
    grep: Option<Regex>,
    since: Option<i64>,
    until: Option<i64>,
    leaf: Option<Ix>,
    touched: Option<Touched>,
}

impl Shown {
    fn shows(&self, session: &Session, ix: Ix) -> Result<bool> {
        if !self.wanted.keeps(session, ix)? {
            return Ok(false);
        }
        if let Some(touched) = &self.touched
            && !touched.is_by(session, ix)?
        {
            return Ok(false);
        }
        if self.since.is_some() || self.until.is_some() {
            let Some(time) = session.index().time(ix) else {
                return Ok(false);
            };
            if self.since.is_some_and(|t| time < t) || self.until.is_some_and(|t| time > t) {
                return Ok(false);
            }
        }
        // The leaf's own answer is never hidden for want of text.
        let is_wanted = self.leaf == Some(ix) || self.calls;
        if let Some(filter) = self.filter
            && !filter.shows(session, ix, is_wanted)?
        {
            return Ok(false);
        }
        match &self.grep {
            None => Ok(true),
            Some(regex) => Ok(regex.is_match(&entry::text(Entry::new(&session.line(ix)?)))),
        }
    }
}

impl Log {
    pub(crate) fn run(mut self, context: &mut Context) -> Result<Exit, Failure> {
        let time = |text: &Option<String>| match text {
            Some(text) => since::parse(text, context.now).map(Some),
            None => Ok(None),
        };
        let (since, until) = (time(&self.since)?, time(&self.until)?);
        let wanted = std::mem::take(&mut self.selection).read();
        // Whoever asks for a type or role wants to see it.
        let default = if context.json() || context.format().is_some() || !wanted.is_everything() {
            None
        } else if self.follow {
            // There is no row yet that a result could be folded into.
            Some(Filter::Default)
        } else {
            Some(Filter::NoTools)
        };
        let all = self.all || (self.graph && self.revs.is_empty());
        let entries = if all {
            None
        } else {
            Some(entries_of(context, &self.revs)?)
        };
        let session = match &entries {
            Some(entries) => Rc::clone(&entries.session),
            None => context.session()?,
        };
        let shown = Shown {
            filter: self.filter.or(default),
            calls: self.patch || !self.paths.is_empty(),
            touched: Touched::new(context, &session, &self.paths),
            wanted,
            grep: self.grep.take(),
            since,
            until,
            leaf: session.leaf()?.ix,
        };
        if self.follow {
            return self.follow(context, &session, &shown);
        }
        if self.graph && !context.json() && context.format().is_none() {
            return self.draw_graph(context, &session, entries, &shown);
        }
        let whole_path = !all && self.revs.is_empty();
        let marks = if whole_path {
            Marks {
                leaf: shown.leaf,
                on_path: OnPath::All,
            }
        } else {
            Marks::all(&session)?
        };
        let walk = self.walk(&session, entries)?;
        if let Some(listing) = Listing::of(context, &session)? {
            let kept = self.kept(&session, walk, &shown)?;
            tell_if_empty(context, kept.is_empty());
            for (ix, _) in kept {
                listing.row(context, &session, ix, &marks, |record| record)?;
            }
            return Ok(Exit::Yes);
        }
        self.print_rows(context, &session, walk, &shown, &marks)
    }

    /// Shows the last entries, and each new one as it comes, until nobody reads them.
    fn follow(
        &self,
        context: &mut Context,
        session: &Rc<Session>,
        shown: &Shown,
    ) -> Result<Exit, Failure> {
        /// How long a new entry may wait to be seen.
        const PAUSE: Duration = Duration::from_millis(200);
        const FIRST: usize = 10;
        let Some(path) = session.path() else {
            return Err(Failure::usage("standard input cannot be followed"));
        };
        let mut follower = Follower::new(session, path)?;
        let mut entries: Vec<Ix> = Vec::new();
        for ix in session
            .leaf()?
            .ix
            .iter()
            .flat_map(|&leaf| session.ancestors(leaf))
        {
            if entries.len() >= self.number.unwrap_or(FIRST) {
                break;
            }
            let ix = ix?;
            if shown.shows(session, ix)? {
                entries.push(ix);
            }
        }
        entries.reverse();
        let mut layout = Layout::new(&context.ui, session, context.now, self.ascii);
        self.print_news(context, session, &entries, shown, &mut layout)?;
        loop {
            std::thread::sleep(PAUSE);
            let Some(news) = follower.look()? else {
                continue;
            };
            if news.rewritten {
                let said = "the file was rewritten; what is new in it follows";
                context.ui.note("rewritten", said);
            }
            let mut entries = Vec::new();
            for ix in news.entries {
                if shown.shows(&news.session, ix)? {
                    entries.push(ix);
                }
            }
            context.tick();
            layout.now = context.now;
            self.print_news(context, &news.session, &entries, shown, &mut layout)?;
        }
    }

    fn print_news(
        &self,
        context: &mut Context,
        session: &Session,
        entries: &[Ix],
        shown: &Shown,
        layout: &mut Layout,
    ) -> Result<(), Failure> {
        if let Some(listing) = Listing::of(context, session)? {
            listing.all(context, session, entries)?;
        } else {
            // The leaf moves on with every entry: no row carries its mark.
            let marks = Marks {
                leaf: None,
                on_path: OnPath::All,
            };
            for &ix in entries {
                if self.patch {
                    for line in self.full(context, session, shown).show(session, ix)? {
                        context.ui.row(&line)?;
                    }
                    context.ui.row("")?;
                    continue;
                }
                let row = layout.row(session, ix, &marks, false)?;
                layout.measure(std::iter::once((0, &row)));
                let line = if self.oneline {
                    layout.render_oneline(&context.ui, &row, 0)
                } else {
                    layout.render(&context.ui, &row, 0)
                };
                context.ui.row(&line)?;
                for line in self.stat_lines(context, session, ix, shown, 0)? {
                    context.ui.row(&line)?;
                }
            }
        }
        context.ui.flush()?;
        Ok(())
    }

    /// The entries that may be shown, newest first.
    fn walk(
        &self,
        session: &Rc<Session>,
        entries: Option<Entries>,
    ) -> Result<Box<dyn Iterator<Item = Result<Ix>>>> {
        if let Some(entries) = entries {
            let walk = entries.walk.map(|step| step.map(|(_, ix)| ix));
            let several = self.revs.len() > 1 || self.revs.iter().any(|rev| rev.contains("..."));
            if !several {
                return Ok(Box::new(walk));
            }
            // Several paths are one list: numbers count from the end of the file.
            let mut found = walk.collect::<Result<Vec<Ix>>>()?;
            found.sort_unstable();
            return Ok(Box::new(found.into_iter().map(Ok)));
        }
        session.load_all()?;
        let index = session.index();
        let all: Vec<_> = index
            .newest_first()
            .filter(|&ix| index.is_current(ix))
            .collect();
        Ok(Box::new(all.into_iter().map(Ok)))
    }

    /// The entries that are shown, in the order in which they are, each with the number of tool
    /// results that are folded into it.
    fn kept(
        &self,
        session: &Session,
        walk: impl Iterator<Item = Result<Ix>>,
        shown: &Shown,
    ) -> Result<Vec<(Ix, usize)>> {
        let mut kept: Vec<(Ix, usize)> = Vec::new();
        let limit = self.number.unwrap_or(usize::MAX);
        for ix in walk {
            let ix = ix?;
            if shown.shows(session, ix)? {
                if kept.len() == limit {
                    break;
                }
                kept.push((ix, 0));
            } else if session.role(ix) == Role::ToolResult
                && let Some((_, tools)) = kept.last_mut()
            {
                *tools += 1;
            }
        }
        if self.reverse {
            kept.reverse();
        }
        Ok(kept)
    }

    fn print_rows(
        &self,
        context: &mut Context,
        session: &Session,
        walk: impl Iterator<Item = Result<Ix>>,
        shown: &Shown,
        marks: &Marks,
    ) -> Result<Exit, Failure> {
        /// Columns are measured over this many rows, so that the first ones show at once.
        const BATCH: usize = 500;
        let kept = self.kept(session, walk, shown)?;
        tell_if_empty(context, kept.is_empty());
        context.ui.page();
        if self.patch {
            for (n, &(ix, _)) in kept.iter().enumerate() {
                if n > 0 {
                    context.ui.row("")?;
                }
                for line in self.full(context, session, shown).show(session, ix)? {
                    context.ui.row(&line)?;
                }
            }
            return Ok(Exit::Yes);
        }
        let mut layout = Layout::new(&context.ui, session, context.now, self.ascii);
        let leaf_row = visible_leaf(session, shown.leaf, &kept)?;
        for batch in kept.chunks(BATCH) {
            let rows = batch.iter().map(|&(ix, tools)| {
                let mut row = layout.row(session, ix, marks, leaf_row == Some(ix))?;
                row.tools = tools;
                Ok(row)
            });
            let rows = rows.collect::<Result<Vec<Row>>>()?;
            layout.measure(rows.iter().map(|row| (0, row)));
            for (row, &(ix, _)) in rows.iter().zip(batch) {
                let line = if self.oneline {
                    layout.render_oneline(&context.ui, row, 0)
                } else {
                    layout.render(&context.ui, row, 0)
                };
                context.ui.row(&line)?;
                for line in self.stat_lines(context, session, ix, shown, 0)? {
                    context.ui.row(&line)?;
                }
            }
        }
        Ok(Exit::Yes)
    }

    fn full(&self, context: &Context, session: &Session, shown: &Shown) -> Full {
        let detail = Detail {
            no_results: !matches!(shown.filter, Some(Filter::NoTools)),
            ..Detail::default()
        };
        Full::new(&context.ui, session, shown.leaf, detail, context.now)
    }

    /// With `--stat`, what an entry did, and those above it that the filter folds into it.
    fn stat_lines(
        &self,
        context: &Context,
        session: &Session,
        ix: Ix,
        shown: &Shown,
        indent: usize,
    ) -> Result<Vec<String>> {
        if !self.stat {
            return Ok(Vec::new());
        }
        let mut stat = Stat::default();
        stat.add(session, ix)?;
        if let Some(filter) = shown.filter {
            for above in session.ancestors(ix).skip(1) {
                let above = above?;
                if filter.shows(session, above, false)? {
                    break;
                }
                stat.add(session, above)?;
            }
        }
        let columns = context.ui.width.saturating_sub(indent);
        let mark = if context.ui.unicode() && !self.ascii {
            "…"
        } else {
            "~"
        };
        Ok(stat.lines(columns, mark, context.ui.painter))
    }

    fn draw_graph(
        &self,
        context: &mut Context,
        session: &Session,
        entries: Option<Entries>,
        shown: &Shown,
    ) -> Result<Exit, Failure> {
        let chosen = match entries {
            Some(entries) => {
                let set = entries.walk.map(|step| step.map(|(_, ix)| ix));
                Some(set.collect::<Result<hashbrown::HashSet<Ix>>>()?)
            }
            None => None,
        };
        let view = View::new(session, shown.leaf, |ix| {
            Ok(chosen.as_ref().is_none_or(|set| set.contains(&ix)) && shown.shows(session, ix)?)
        })?;
        let tree = session.tree()?;
        let marks = Marks::all(session)?;
        let mut order = view.children_first(tree, shown.leaf);
        if let Some(limit) = self.number {
            order.truncate(limit);
        }
        tell_if_empty(context, order.is_empty());
        context.ui.page();
        let mut layout = Layout::new(&context.ui, session, context.now, self.ascii);
        let mut drawing = Drawing::new(context.ui.painter, context.ui.unicode() && !self.ascii);
        let mut rows = Vec::with_capacity(order.len());
        for ix in order {
            let mut row = layout.row(session, ix, &marks, view.leaf == Some(ix))?;
            row.tools = view.tools.get(&ix).copied().unwrap_or_default();
            let parent = view.parent.get(&ix).copied();
            let indent = drawing.indent(ix, parent);
            // The first line is put in once the columns are known.
            let mut text = PLACE_OF_TEXT.to_string();
            if self.patch {
                let full = self
                    .full(context, session, shown)
                    .beside(indent)
                    .show(session, ix)?;
                text = format!("{}\n\n", full.join("\n"));
            }
            for line in self.stat_lines(context, session, ix, shown, indent)? {
                text.push('\n');
                text.push_str(&line);
            }
            let lines = drawing.row(ix, parent, is_cut(tree, ix), row.on_path, text);
            rows.push((indent, lines, row));
        }
        layout.measure(rows.iter().map(|(indent, _, row)| (*indent, row)));
        for (indent, lines, row) in rows {
            let text = if self.oneline {
                layout.render_oneline(&context.ui, &row, indent)
            } else {
                layout.render(&context.ui, &row, indent)
            };
            let lines = lines.replace(PLACE_OF_TEXT, &text);
            for line in lines.lines() {
                context.ui.row(line.trim_end())?;
            }
        }
        Ok(Exit::Yes)
    }
}

fn tell_if_empty(context: &Context, empty: bool) {
    if empty {
        context.ui.note("nothing-shown", "there is nothing to show");
    }
}

/// Stands for the text of a row while the graph is drawn. Nothing that is shown holds it.
const PLACE_OF_TEXT: char = '\0';

/// The row that carries the leaf's mark: the leaf, or what is shown of the path nearest to it.
fn visible_leaf(session: &Session, leaf: Option<Ix>, kept: &[(Ix, usize)]) -> Result<Option<Ix>> {
    let Some(leaf) = leaf else { return Ok(None) };
    let rows: hashbrown::HashSet<Ix> = kept.iter().map(|(ix, _)| *ix).collect();
    /// Hidden entries are few; a leaf whose path is not shown needs no long search.
    const STEPS: usize = 1000;
    for ix in session.ancestors(leaf).take(STEPS) {
        let ix = ix?;
        if rows.contains(&ix) {
            return Ok(Some(ix));
        }
    }
    Ok(None)
}
