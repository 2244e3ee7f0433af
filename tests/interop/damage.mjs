// Writes session files with odd values in every place: for comparing how pis and pi read them.
//   node damage.mjs OUT_DIR COUNT [SEED]
// The same arguments give the same files. Left out are the values on which pi computes nonsense (the length of an object
// that has a `length`, sections that are a string): a difference there is none.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [dir, count, seed = "1"] = process.argv.slice(2);
mkdirSync(dir, { recursive: true });
let state = (Number(seed) * 7919) >>> 0;
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const pick = (values) => values[Math.floor(random() * values.length)];
const below = (n) => Math.floor(random() * n);
// All values are JSON text, so that they can be what JSON.stringify never writes.
let oddness = 0;
const odd = () => pick(["null", "true", "false", "0", "1", "-1", "1.5", "1e400", "-0", "12345678901234567890123", '""', '"x"', '"bad \\ud83d"',
  '"\u2028\u0085é😀"', "[]", "{}", "[null]", '[1,"a",{}]', '{"a":1,"2":2,"1":3,"a":4}', "[[[[[]]]]]", '{"__proto__":1,"x":2}']);
const text = () => pick(['"hello"', '""', '"a\\nb"', '"日本\\ud83d\\ude00"', '"lone \\udc00"', `"${"x".repeat(37)}"`, '"```\\n````"']);
const time = () => pick(['"2026-01-01T00:00:00.000Z"', '"2026-01-02T03:04:05.678Z"', '"t"', "12345", "1767225601000.7", '"2026-01-02"', "null", "9e20"]);
// Members may be missing, odd, repeated (the last one counts) or have an escaped name.
function object(members) {
  const written = Object.entries(members).filter(([, value]) => value !== undefined && random() >= oddness).map(([name, value]) => {
    const key = random() < oddness / 4 ? `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}"` : `"${name}"`;
    const before = random() < oddness / 4 ? `"${name}":${odd()},` : "";
    return `${before}${key}:${random() < oddness ? odd() : value}`;
  });
  return `{${written.join(random() < 0.1 ? " , " : ",")}}`;
}
const sane = (make) => { const before = oddness; oddness = 0; try { return make(); } finally { oddness = before; } };
const list = (make, most = 3) => `[${Array.from({ length: below(most + 1) }, make).join(",")}]`;
const block = () => pick([
  () => object({ type: '"text"', text: text() }),
  () => object({ type: '"image"', data: '"aa"', mimeType: '"image/png"' }),
  () => object({ type: '"thinking"', thinking: text() }),
  () => object({ type: '"toolCall"', id: '"c1"', name: text(), arguments: pick([object({ path: text(), n: "1.0", 10: "1e21" }), odd()]) }),
  odd,
])();
const content = () => pick([text, odd, () => list(block)])();
const usage = () => sane(() => object({ input: pick(["1", "200", "0", undefined]), output: "3", cacheRead: "0", cacheWrite: pick(["0", "1.5", "null"]), totalTokens: pick(["0", "204", "17", "-3", undefined]) }));
const tool = () => sane(() => object({ name: pick(['"read"', '"bash"', '"edit"']), description: text(), parameters: odd() }));
const sections = () => sane(() => `{"a":${text()},"b":${pick(["null", text()])},"3":${text()}}`);
const ROLES = ["user", "assistant", "assistant", "toolResult", "system", "system", "custom", "bashExecution", "branchSummary", "compactionSummary", "hookMessage", "weird"];
function message() {
  const role = pick(ROLES);
  const before = object({
    role: `"${role}"`, content: content(), provider: text(), model: text(), stopReason: pick(['"stop"', '"error"', '"aborted"', undefined]),
    command: text(), output: text(), exitCode: pick(["0", "1", "null", undefined]), cancelled: pick(["true", "false"]), truncated: "true", fullOutputPath: text(),
    excludeFromContext: pick(["true", undefined, undefined]), summary: text(), toolName: text(), isError: "true", timestamp: pick(["1767225601000", undefined, "null"]),
  });
  // The last member of a name counts: what must be sane comes last.
  const more = [];
  if (random() < 0.4) more.push(`"usage":${usage()}`);
  if (role === "system") {
    if (random() < 0.6) more.push(`"sections":${sections()}`);
    if (random() < 0.6) more.push(`"toolsAdded":${list(tool)}`);
    if (random() < 0.3) more.push(`"toolsRemoved":${list(tool)}`);
  }
  return before === "{}" ? `{${more.join(",")}}` : `${before.slice(0, -1)}${more.map((m) => `,${m}`).join("")}}`;
}
const TYPES = [...Array(5).fill("message"), "custom_message", "branch_summary", "compaction", "context_edit", "context_edit", "model_change", "thinking_level_change", "label", "custom", "zzz"];
for (let n = 0; n < Number(count); n++) {
  const level = pick([0, 0.01, 0.05, 0.2]), version = pick([1, 2, 3, 3, 3, 3]);
  const lines = [`{"type":"session","version":${version},"id":"s${n}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}`];
  const ids = [];
  for (let i = 0, most = 3 + below(25); i < most; i++) {
    const id = random() < 0.01 && ids.length ? pick(ids) : pick(["", "", "", 'odd \\" ~%', "-"]) + `e${n}_${i}`;
    const parent = ids.length === 0 ? "null" : random() < 0.8 ? `"${ids.at(-1)}"` : random() < 0.05 ? '"nowhere"' : `"${pick(ids)}"`;
    const some = () => `"${ids.length === 0 ? "nowhere" : random() < 0.7 ? ids[Math.max(0, ids.length - 1 - below(6))] : pick([...ids, id, "nowhere"])}"`;
    const type = pick(TYPES);
    oddness = Math.min(level, 0.05);
    const own = object({
      message: () => ({ message: random() < level ? odd() : message() }),
      custom_message: () => ({ customType: text(), content: content(), display: "true", details: odd() }),
      branch_summary: () => ({ fromId: some(), summary: text() }),
      compaction: () => ({ summary: text(), firstKeptEntryId: version > 1 ? some() : undefined, firstKeptEntryIndex: version > 1 ? undefined : pick([`${below(25)}`, `${i}`, odd()]), tokensBefore: "5", systemMessage: pick([undefined, message(), odd()]) }),
      context_edit: () => ({ targetId: some(), replacement: pick(["null", object({ content: content() }), odd()]) }),
      model_change: () => ({ provider: text(), modelId: text() }),
      thinking_level_change: () => ({ thinkingLevel: text() }),
      label: () => ({ targetId: some(), label: pick([text(), '"good"']) }),
      custom: () => ({ customType: text(), data: odd() }),
      zzz: () => ({ a: odd() }),
    }[type]());
    // Version 1 has no ids; those that are there all the same do not count.
    const place = version === 1 && random() < 0.9 ? "" : `"id":"${id}","parentId":${parent},`;
    lines.push(`{"type":"${type}",${place}"timestamp":${time()}${own === "{}" ? "}" : `,${own.slice(1)}`}`);
    ids.push(id);
    if (random() < 0.05) lines.push(pick(["", "junk{", "null", "false", '""', '{"type":"session","id":"other"}']));
  }
  writeFileSync(join(dir, `d${String(n).padStart(4, "0")}.jsonl`), lines.join("\n") + pick(["\n", ""]));
}
