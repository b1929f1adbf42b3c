// Fails on private words in names, strings, comments and docs, and shows what to write instead: node scripts/check-words.mjs [--write]
// scripts/words-allowed.json counts the legitimate or remaining uses of each file; a count may only go down. --write lowers it.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = process.argv.slice(2).find((argument) => !argument.startsWith('--'));
const root = resolve(folder ?? dirname(dirname(fileURLToPath(import.meta.url))));
const ALLOWED = join(root, 'scripts', 'words-allowed.json');

/** A word, alone or as a part of a name, and what to write instead. */
const replacements = {
  anew: 'again',
  deed: 'change',
  deeds: 'changes',
  door: 'endpoint, entry or listener',
  doors: 'endpoints, entries or listeners',
  eyes: 'visibility, view as',
  fate: 'outcome',
  fates: 'outcomes',
  floor: 'layer or baseline',
  floors: 'layers or baselines',
  happening: 'activity event',
  happenings: 'activity',
  holds: 'contains, applies or is valid',
  house: 'project or platform',
  jar: 'gateway or container',
  lawful: 'valid',
  mend: 'fix',
  mended: 'fixed',
  mending: 'repair',
  mends: 'fixes',
  nobody: 'no user, no client',
  offence: 'violation',
  offences: 'violations',
  offspring: 'subprocess',
  room: 'layer, folder or space',
  rooms: 'layers or folders',
  siege: 'load test',
  stands: 'is, appears or is listed',
  strangers: 'orphaned entries',
  survivor: 'undetected mutation',
  survivors: 'undetected mutations',
  suspect: 'likely cause',
  suspects: 'likely causes',
  surroundings: 'context or environment',
  told: 'notified or reported',
  whoever: 'the client, the user, any caller',
  wishes: 'settings or requests',
};
/** Replacements for expressions of several words. */
const phrases = {
  'came to nothing': 'failed',
  'comes to nothing': 'fails',
  'lost form': 'undelivered form',
  'lost forms': 'undelivered forms',
  'refused form': 'rejected form',
  'refused forms': 'rejected forms',
  'refused lead': 'rejected lead',
  'refused leads': 'rejected leads',
  'set-up': 'setup',
  'stand-in': 'mock',
  'stand-ins': 'mocks',
  'time-out': 'timeout',
  'time-outs': 'timeouts',
  'to be had': 'available',
};
const PHRASES = new RegExp(`\\b(${Object.keys(phrases).join('|')})(?![\\w-])`, 'gi');
const PATTERN = new RegExp(`^(${Object.keys(replacements).join('|')})$`, 'i');

const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter(
    (file) =>
      /\.(ts|tsx|mts|mjs|cjs|js|css|html|md|json|yml|yaml)$/.test(file) &&
      !/^(package-lock\.json|fixtures\/data-folders\/|scripts\/(check-words\.|words-allowed|vague-names))/.test(file) &&
      existsSync(join(root, file)),
  );
const found = new Map(tracked.map((file) => [file, wordsOf(readFileSync(join(root, file), 'utf8'))]));
const allowed = existsSync(ALLOWED) ? JSON.parse(readFileSync(ALLOWED, 'utf8')) : {};
if (process.argv.includes('--write')) write();
else check();

/** Each word with its line. Names are taken apart: `isDoorOpen` and `open-door` have the word door. */
function wordsOf(text) {
  return text.split('\n').flatMap((line, index) => {
    const parts = line
      .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
      .split(/[^A-Za-z']+/)
      .map((part) => part.replace(/^'+|'+$|'s$/g, ''));
    const found = [...parts.filter((part) => PATTERN.test(part)), ...(line.match(PHRASES) ?? [])];
    return found.map((match) => ({ word: match.toLowerCase(), line: index + 1 }));
  });
}

function countsOf(list) {
  const counts = {};
  for (const { word: entryWord } of list) counts[entryWord] = (counts[entryWord] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).sort());
}

function check() {
  const complaints = [];
  for (const [file, list] of found) {
    const counts = countsOf(list);
    for (const privateWord of new Set([...Object.keys(counts), ...Object.keys(allowed[file] ?? {})])) {
      const [is, may] = [counts[privateWord] ?? 0, allowed[file]?.[privateWord] ?? 0];
      if (is > may) {
        const lines = list.filter((entry) => entry.word === privateWord).map(({ line }) => `${file}:${line}`);
        complaints.push(
          `${lines.join(', ')}: "${privateWord}" (${is}, allowed ${may}): write ${replacements[privateWord] ?? phrases[privateWord]}`,
        );
      } else if (is < may)
        complaints.push(
          `${file}: "${privateWord}" occurs ${is} times, not ${may}: run node scripts/check-words.mjs --write`,
        );
    }
  }
  for (const file of Object.keys(allowed))
    if (!found.has(file)) complaints.push(`${file} no longer exists: run node scripts/check-words.mjs --write`);
  for (const error of complaints) console.error(`words: ${error}`);
  if (complaints.length > 0) process.exitCode = 1;
  else console.log(`words: ${found.size} files, no new private word`);
}

/** Lowers the allowed counts to the present ones. New words stay rejected. */
function write() {
  const next = {};
  for (const [file, list] of found) {
    const counts = Object.entries(countsOf(list)).map(([privateWord, count]) => [
      privateWord,
      Math.min(count, allowed[file]?.[privateWord] ?? 0),
    ]);
    const positiveCounts = counts.filter(([, count]) => count > 0);
    if (positiveCounts.length > 0) next[file] = Object.fromEntries(positiveCounts);
  }
  writeFileSync(ALLOWED, `${JSON.stringify(next, null, 2)}\n`);
}
