// Checks every import against .dependency-cruiser.mjs: node scripts/check-layers.mjs [FOLDER]
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise } from 'dependency-cruiser';
import config from '../.dependency-cruiser.mjs';

const root = resolve(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));
const folders = ['server', 'electron', 'renderer', 'e2e', 'bench'].filter((folder) => existsSync(join(root, folder)));

const { output } = await cruise(folders, { ...config.options, baseDir: root, validate: true, ruleSet: config });
const modules = new Map(output.modules.map((module) => [module.source, module]));

// A TypeScript that dependency-cruiser cannot read makes it find nothing and report success.
const missed = folders.flatMap(sourcesIn).filter((source) => !modules.has(source));
const complaints = output.summary.violations.map(({ rule, from, to, cycle }) => {
  const { comment } = config.forbidden.find(({ name }) => name === rule.name);
  const route = cycle ? [from, ...cycle.map(({ name }) => name)].join(' -> ') : from === to ? from : `${from} -> ${to}`;
  return `${locationOf(from, cycle ? cycle[0].name : to)}: ${rule.name}: ${route} (${comment})`;
});
if (modules.size === 0) complaints.push('dependency-cruiser read no module, so nothing was checked');
else if (missed.length > 0) complaints.push(`dependency-cruiser did not read ${missed.join(', ')}`);

for (const error of complaints) console.error(`layers: ${error}`);
if (complaints.length > 0) process.exitCode = 1;
else console.log(`layers: ${modules.size} modules, every import allowed`);

/** `file:line` of the import; the file alone when the rule is about the file. */
function locationOf(from, to) {
  const specifier = modules.get(from)?.dependencies.find(({ resolved }) => resolved === to)?.module;
  if (specifier === undefined || !existsSync(join(root, from))) return from;
  const lines = readFileSync(join(root, from), 'utf8').split('\n');
  // Node's own modules are reported without `node:`.
  const quoted = [`'${specifier}'`, `'node:${specifier}'`];
  const index = lines.findIndex((line) => quoted.some((name) => line.includes(name)));
  return index < 0 ? from : `${from}:${index + 1}`;
}

function sourcesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mts)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'));
}
