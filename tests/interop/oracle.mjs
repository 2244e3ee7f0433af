// Answers questions about a session file the way the reference implementation does.
// Run with the Node.js that setup.sh installs:
//   $PI_REF/node_modules/.bin/node oracle.mjs COMMAND FILE [ARGS] [--leaf ID|root]
// It never writes FILE: it works on a copy in a temporary directory.
//   leaf FILE                 the leaf's id, or null
//   path FILE                 ids from root to leaf, one a line
//   context FILE              {messages, thinkingLevel, model}: buildSessionContext()
//   llm FILE                  the messages as they go to a model: convertToLlm()
//   tree FILE                 [{id, depth, label}] in the order of getTree(), pre-order
//   labels FILE               {id: label}
//   info FILE                 what the session list shows: id, name, cwd, messageCount, firstMessage, created, modified
//   stats FILE                message counts, tokens, cost over all entries
//   clone FILE                the lines of the file that /clone writes (path to the leaf)
//   fork FILE ID              the lines of the file that /fork before user message ID writes
//   fork-from FILE CWD        the lines of the file that --fork writes
//   export-jsonl FILE         the lines of /export x.jsonl
//   navigate FILE ID          {leaf, editorText}: what /tree does on ID
//   summary-input FILE ID [--budget TOKENS]   {entries, text, readFiles, modifiedFiles}: input of the branch summary when going to ID
//   compaction FILE [KEEP]    {firstKeptEntryId, tokensBefore, splitTurn, summarized, prefix, conversation, prefixConversation, previousSummary, readFiles, modifiedFiles}, or null
//   tokens FILE               the estimate of context tokens
//   all FILE...               one JSON line a file: {file, leaf, path, context, tokens, labels, info, stats}, or {file, error}
//   sums                      JSON lines {file} on stdin: {file, stats, models} of each, or {file, skipped}
//   batch                     JSON lines {file, count} on stdin: what pi makes of the file at its leaf, before its first entry and
//                             at `count` of its entries. Answers {file, labels}, then {file, rev, linear, path, context, tokens, llm}
//                             each: `rev` is the place as pis spells it; linear says that the ids are made up (version 1). llm, at
//                             every fifth place: [{from: index in messages, message?}], `message` only where it is another one. What
//                             fails in pi is {error}. {file, skipped} for a file that pi refuses or never returns from, or without
//                             a leaf that has a name.
//   writing                   JSON lines {file, count, cwd} on stdin: what pi writes of the file, and where it goes. Answers {file, copy}
//                             with the records of fork-from CWD, then {file, id, navigate, clone, fork} for `count` of the entries:
//                             records, what the commands above say, or {error}; fork is null for what is no user message. Of a
//                             file of version 1 or 2: {file, old}.
//   list                      {dir, cwd, agent, searches} on stdin: the list of sessions of the directory `dir`, of those in it that
//                             belong to `cwd`, of all in the agent's directory, and which paths of the first each search finds:
//                             {all, here, everywhere, found}. Sessions whose id is no string, which pi does not open, are left out.
// navigate: {…, unchanged: true} for the leaf itself. fork: {empty, parentSession} where nothing stands before the message.
// A v1 file gets random ids at every run: compare shapes only. Summaries and bash runs inside texts carry pi's own wording.
// In clone, fork, fork-from and export-jsonl, new ids and times are replaced: {"id":"<new>"}, {"timestamp":"<now>"}.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const ref = process.env.PI_REF ?? "/tmp/pi-reference";
const root = join(ref, "node_modules/@earendil-works/pi-coding-agent/dist");
const load = (p) => import(pathToFileURL(join(root, p)).href);
const S = await load("core/session-manager.js");
const M = await load("core/messages.js");
const B = await load("core/compaction/branch-summarization.js");
const C = await load("core/compaction/compaction.js");
const U = await load("core/compaction/utils.js");
const T = await load("core/usage-totals.js");
const X = await load("core/session-export.js");

const argv = process.argv.slice(2);
let leafArg;
const li = argv.indexOf("--leaf");
if (li >= 0) [, leafArg] = argv.splice(li, 2);
let budgetArg = 0;
const bi = argv.indexOf("--budget");
if (bi >= 0) budgetArg = Number(argv.splice(bi, 2)[1]);
const out = (v) => console.log(JSON.stringify(v));
let known = new Set();
const contentText = (c) => typeof c === "string" ? c : (c ?? []).filter((b) => b?.type === "text").map((b) => b.text).join("");
// The records of a file that pi wrote, or would write with the next message (it writes no file before the first prompt).
function written(path, sm) {
  const records = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean).map((l) => JSON.parse(l)) : JSON.parse(JSON.stringify(sm.fileEntries));
  const fresh = new Map();
  for (const e of records) {
    if (e.type === "session") { e.id = "<new>"; e.timestamp = "<now>"; if (e.parentSession) e.parentSession = basename(e.parentSession); }
    else if (!known.has(e.id)) { fresh.set(e.id, `<new${fresh.size + 1}>`); e.id = fresh.get(e.id); }
    if (fresh.has(e.parentId)) e.parentId = fresh.get(e.parentId);
  }
  return records;
}
function lines(path, sm) {
  for (const e of written(path, sm)) console.log(JSON.stringify(e));
}
// What /fork writes.
function fork(sm, id, copy) {
  const e = sm.getEntry(id);
  if (e?.type !== "message" || e.message.role !== "user") throw new Error("Invalid entry ID for forking");
  if (!e.parentId) return { empty: true, parentSession: basename(copy) };
  return written(sm.createBranchedSession(e.parentId), sm);
}
// What /tree does.
function navigate(sm, id) {
  const e = sm.getEntry(id);
  if (!e) throw new Error(`Entry ${id} not found`);
  if (e.id === sm.getLeafId()) return { leaf: e.id, editorText: null, unchanged: true };
  const back = e.type === "custom_message" || (e.type === "message" && e.message.role === "user");
  if (back && e.parentId !== null && !sm.getEntry(e.parentId)) throw new Error(`Entry ${e.parentId} not found`);
  if (e.type === "message" && e.message.role === "user") return { leaf: e.parentId, editorText: contentText(e.message.content) };
  if (e.type === "custom_message") return { leaf: e.parentId, editorText: contentText(e.content) };
  return { leaf: e.id, editorText: null };
}
function labelsOf(sm) {
  return Object.fromEntries(sm.getEntries().map((e) => [e.id, sm.getLabel(e.id)]).filter(([, l]) => l));
}
async function infoOf(dir) {
  const [i] = await S.SessionManager.listAll(dir);
  return i ? { id: i.id, name: i.name ?? null, cwd: i.cwd, messageCount: i.messageCount, firstMessage: i.firstMessage, created: i.created, modified: i.modified } : null;
}
function statsOf(sm) {
  const t = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
  const n = { user: 0, assistant: 0, toolResult: 0, toolCall: 0, message: 0 };
  const add = (u) => { if (!u) return; for (const k of ["input", "output", "cacheRead", "cacheWrite"]) t[k] += u[k] ?? 0; t.cost += u.cost?.total ?? 0; };
  for (const e of sm.getEntries()) {
    if (e.type === "usage" || e.type === "branch_summary" || e.type === "compaction") add(e.usage);
    if (e.type !== "message") continue;
    n.message++;
    const m = e.message;
    if (m?.role === "user") n.user++;
    else if (m?.role === "toolResult") { n.toolResult++; add(m.usage); }
    else if (m?.role === "assistant") { n.assistant++; if (Array.isArray(m.content)) n.toolCall += m.content.filter((c) => c?.type === "toolCall").length; add(m.usage); }
  }
  return { ...n, ...t };
}
const tokensOf = (sm) => C.estimateProjectedContextTokens(sm.buildSessionProjection(), sm.getBranch()).tokens;
function attempt(f) { try { return f(); } catch (e) { return { error: String(e.message ?? e) }; } }
function withCopy(file, f) {
  const dir = mkdtempSync(join(tmpdir(), "oracle-"));
  const copy = join(dir, basename(file).endsWith(".jsonl") ? basename(file) : `${basename(file)}.jsonl`);
  cpSync(resolve(file), copy, { dereference: true });
  known = new Set(readFileSync(copy, "utf8").split("\n").map((l) => { try { return JSON.parse(l).id; } catch { return undefined; } }));
  return Promise.resolve(f(dir, copy)).finally(() => rmSync(dir, { recursive: true, force: true }));
}
const recordsOf = (path) => readFileSync(path, "utf8").split("\n").map((l) => { try { return JSON.parse(l); } catch { return undefined; } }).filter(Boolean);
// Whether pi would walk in circles.
function isCyclic(records) {
  const parents = new Map(records.filter((e) => e.type !== "session").map((e) => [e.id, e.parentId]));
  const done = new Set();
  for (const id of parents.keys()) {
    const seen = new Set();
    for (let at = id; at && parents.has(at) && !done.has(at); at = parents.get(at)) {
      if (seen.has(at)) return true;
      seen.add(at);
    }
    for (const at of seen) done.add(at);
  }
  return false;
}
// `count` of the values, spread over them and always the same.
function sample(values, count) {
  let s = values.length;
  const random = () => { s = (Math.imul(s, 1664525) + 1013904223) >>> 0; return s / 4294967296; };
  const rest = [...values];
  return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(Math.floor(random() * rest.length), 1)[0]);
}
// Written out before the next is made: exiting would drop what a pipe has not taken.
const say = (v) => new Promise((done) => process.stdout.write(`${JSON.stringify(v)}\n`, done));
async function answerAll(file, copy, count) {
  const records = recordsOf(copy);
  // pi writes a header into an empty file.
  if (records.length === 0) return say({ file, skipped: "no records" });
  const linear = !((records[0].version ?? 1) >= 2);
  if (!linear && isCyclic(records)) return say({ file, skipped: "cyclic" });
  let sm;
  try { sm = S.SessionManager.open(copy); } catch (e) { return say({ file, skipped: String(e.message) }); }
  const leaf = sm.getLeafId(), ids = [...new Set(sm.getEntries().map((e) => e.id))];
  if (leaf !== null && !leaf) return say({ file, skipped: "the last record has no id" });
  if (ids.some((id) => typeof id === "number")) return say({ file, skipped: "numeric ids" });
  await say({ file, labels: linear ? null : labelsOf(sm) });
  let place = 0;
  const answer = (rev) => {
    const llm = place++ % 5 === 0 ? attempt(() => llmOf(sm.buildSessionContext().messages)) : undefined;
    return say({ file, rev, linear, path: sm.getBranch().map((e) => e.id), context: attempt(() => sm.buildSessionContext()), tokens: attempt(() => tokensOf(sm)), llm });
  };
  await answer("@");
  sm.resetLeaf();
  await answer("root");
  // An empty id, or one that no command line can hold, is no leaf to ask for.
  const usable = (id) => id && !id.includes("\0") && id.isWellFormed();
  for (const id of sample(ids.filter(usable), count)) {
    sm.branch(id);
    const above = linear ? ids.length - sm.getBranch().length : undefined;
    await answer(linear ? `@~${above}` : `id:"${id.replace(/[\\"]/g, "\\$&")}"`);
  }
}
function llmOf(messages) {
  return messages.flatMap((m, from) => M.convertToLlm([m]).map((message) => (message === m ? { from } : { from, message })));
}
async function answerWriting(file, dir, copy, count, cwd) {
  const records = recordsOf(copy);
  if (!(records[0]?.version >= 3)) return say({ file, old: true });
  if (isCyclic(records)) throw new Error("cyclic");
  // A branch takes the place of its source in the manager, so each is made by a new one.
  const open = () => S.SessionManager.open(copy);
  const ids = [...new Set(open().getEntries().map((e) => e.id))].filter((id) => typeof id === "string" && id && !id.includes("\0") && id.isWellFormed());
  await say({ file, copy: attempt(() => written(S.SessionManager.forkFrom(copy, cwd, dir).getSessionFile())) });
  const cloned = (sm, id) => written(sm.createBranchedSession(id), sm);
  for (const id of sample(ids, count)) {
    const e = open().getEntry(id);
    const isPrompt = e.type === "message" && e.message.role === "user";
    await say({ file, id, navigate: attempt(() => navigate(open(), id)), clone: attempt(() => cloned(open(), id)), fork: isPrompt ? attempt(() => fork(open(), id, copy)) : null });
  }
}
if (argv[0] === "list") {
  const { dir, cwd, agent, searches } = JSON.parse(readFileSync(0, "utf8"));
  process.env.PI_CODING_AGENT_DIR = agent;
  const Q = await load("modes/interactive/components/session-selector-search.js");
  // A header of version 1 may name its parent in another field, which pi's list does not look at.
  const parentOf = (path) => recordsOf(path)[0].branchedFrom ?? null;
  const rows = (infos) => infos.map((i) => ({ id: i.id, path: i.path, cwd: i.cwd, name: i.name ?? null, firstMessage: i.firstMessage === "(no messages)" ? null : i.firstMessage,
    messageCount: i.messageCount, created: i.created, modified: i.modified, parentSession: i.parentSessionPath ?? parentOf(i.path), size: statSync(i.path).size }));
  const all = (await S.SessionManager.listAll(dir)).filter((i) => typeof i.id === "string");
  const found = Object.fromEntries(searches.map((q) => [q, all.filter((i) => Q.matchSession(i, Q.parseSearchQuery(q)).matches).map((i) => i.path).sort()]));
  await say({ all: rows(all), here: rows(await S.SessionManager.list(cwd, dir)), everywhere: rows((await S.SessionManager.listAll()).filter((i) => typeof i.id === "string")), found });
  process.exit(0);
}
// A walk along the path would not end on a cycle; sums need none.
async function answerSums(file, dir, copy) {
  if (await infoOf(dir) === null) return say({ file, skipped: "not listed" });
  const sm = S.SessionManager.open(copy);
  await say({ file, stats: attempt(() => statsOf(sm)), models: attempt(() => T.getUsageCostBreakdown(sm.getEntries())) });
}
if (["batch", "writing", "sums"].includes(argv[0])) {
  for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    const { file, count, cwd } = JSON.parse(line);
    const answers = (dir, copy) => argv[0] === "sums" ? answerSums(file, dir, copy) : argv[0] === "batch" ? answerAll(file, copy, count) : answerWriting(file, dir, copy, count, cwd);
    try { await withCopy(file, answers); } catch (e) { await say({ file, skipped: String(e.message ?? e) }); }
  }
  process.exit(0);
}
if (argv[0] === "all") {
  for (const file of argv.slice(1)) {
    try { await withCopy(file, async (dir, copy) => {
      try {
        const info = await infoOf(dir);
        const sm = S.SessionManager.open(copy);
        if (leafArg === "root") sm.resetLeaf();
        else if (leafArg) sm.branch(leafArg);
        out({ file, leaf: sm.getLeafId() ?? null, path: attempt(() => sm.getBranch().map((e) => e.id)), context: attempt(() => sm.buildSessionContext()), tokens: attempt(() => tokensOf(sm)), labels: labelsOf(sm), info, stats: attempt(() => statsOf(sm)) });
      } catch (e) { out({ file, error: String(e.message ?? e) }); }
    }); } catch (e) { out({ file, error: String(e.message ?? e) }); }
  }
  await new Promise((done) => process.stdout.write("", done));
  process.exit(0);
}
const [command, file, arg] = argv;
await withCopy(file, async (dir, copy) => {
  const sm = S.SessionManager.open(copy);
  if (leafArg === "root") sm.resetLeaf();
  else if (leafArg) sm.branch(leafArg);
  switch (command) {
    case "leaf": out(sm.getLeafId() ?? null); break;
    case "path": for (const e of sm.getBranch()) console.log(e.id); break;
    case "context": out(sm.buildSessionContext()); break;
    case "llm": out(M.convertToLlm(sm.buildSessionContext().messages)); break;
    case "tree": {
      const rows = [];
      const stack = sm.getTree().reverse().map((n) => [n, 0]);
      while (stack.length) {
        const [n, depth] = stack.pop();
        rows.push({ id: n.entry.id, depth, label: n.label ?? null });
        for (let i = n.children.length - 1; i >= 0; i--) stack.push([n.children[i], depth + 1]);
      }
      out(rows); break;
    }
    case "labels": out(labelsOf(sm)); break;
    case "info": out(await infoOf(dir)); break;
    case "stats": out(statsOf(sm)); break;
    case "clone": lines(sm.createBranchedSession(sm.getLeafId()), sm); break;
    case "fork": {
      const made = fork(sm, arg, copy);
      if (made.empty) out(made); else for (const e of made) out(e);
      break;
    }
    case "fork-from": lines(S.SessionManager.forkFrom(copy, arg, dir).getSessionFile()); break;
    case "export-jsonl": {
      const p = join(dir, "export-out");
      X.exportSessionToJsonl(sm, p);
      for (const l of readFileSync(p, "utf8").split("\n")) if (l) { const e = JSON.parse(l); if (e.type === "session") e.timestamp = "<now>"; console.log(JSON.stringify(e)); }
      break;
    }
    case "navigate": out(navigate(sm, arg)); break;
    case "summary-input": {
      if (!sm.getEntry(arg)) throw new Error(`Entry ${arg} not found`);
      const { entries } = B.collectEntriesForBranchSummary(sm, sm.getLeafId(), arg);
      const { messages, fileOps } = B.prepareBranchEntries(entries, budgetArg);
      out({ entries: entries.map((e) => e.id), text: U.serializeConversation(M.convertToLlm(messages)), ...U.computeFileLists(fileOps) }); break;
    }
    case "compaction": {
      const p = C.prepareCompaction(sm.getBranch(), { enabled: true, reserveTokens: 16384, keepRecentTokens: Number(arg ?? 20000) });
      out(p ? { firstKeptEntryId: p.firstKeptEntryId, tokensBefore: p.tokensBefore, splitTurn: p.isSplitTurn, summarized: p.messagesToSummarize.length, prefix: p.turnPrefixMessages.length, conversation: U.serializeConversation(M.convertToLlm(p.messagesToSummarize)), prefixConversation: U.serializeConversation(M.convertToLlm(p.turnPrefixMessages)), previousSummary: p.previousSummary ?? null, ...U.computeFileLists(p.fileOps) } : null); break;
    }
    case "tokens": out(tokensOf(sm)); break;
    default: throw new Error(`unknown command ${command}`);
  }
});
