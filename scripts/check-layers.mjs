// Checks every import against .dependency-cruiser.mjs: node scripts/check-layers.mjs [FOLDER]
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise } from 'dependency-cruiser';
import config from '../.dependency-cruiser.mjs';

const root = resolve(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));
const folders = ['server', 'electron', 'renderer', 'e2e', 'bench'].filter((folder) => existsSync(join(root, folder)));

/** Imported on first use only: re2js alone, and the routes that only the API document lists, take a tenth of the time of a start. */
const LATE = [
  '@peculiar/x509',
  'acorn',
  'diff',
  'dockerode',
  're2js',
  'selfsigned',
  'sucrase',
  'tar-stream',
  'yaml',
  'yauzl',
  'yazl',
  'server/api/routes/meta-records.ts',
];

const { output } = await cruise(folders, { ...config.options, baseDir: root, validate: true, ruleSet: config });
const modules = new Map(output.modules.map((module) => [module.source, module]));

// A TypeScript that dependency-cruiser cannot read makes it find nothing and report success.
const missed = folders.flatMap(sourcesIn).filter((source) => !modules.has(source));
const complaints = output.summary.violations.map(({ rule, from, to, cycle }) => {
  const { comment } = config.forbidden.find(({ name }) => name === rule.name);
  const route = cycle ? [from, ...cycle.map(({ name }) => name)].join(' -> ') : from === to ? from : `${from} -> ${to}`;
  return `${locationOf(from, cycle ? cycle[0].name : to)}: ${rule.name}: ${route} (${comment})`;
});
complaints.push(...loadedAtStart());
if (modules.size === 0) complaints.push('dependency-cruiser read no module, so nothing was checked');
else if (missed.length > 0) complaints.push(`dependency-cruiser did not read ${missed.join(', ')}`);

for (const error of complaints) console.error(`layers: ${error}`);
if (complaints.length > 0) process.exitCode = 1;
else console.log(`layers: ${modules.size} modules, every import allowed`);

/** Finds imports that load at each start what few starts need. Each of them makes every start slower. */
function loadedAtStart() {
  const found = [];
  const routes = new Map([['server/platform/emulator.ts', []]]);
  for (const [source, route] of routes) {
    for (const { module, resolved, dynamic, dependencyTypes } of modules.get(source)?.dependencies ?? []) {
      if (dynamic || dependencyTypes.includes('type-only')) continue;
      if (LATE.includes(module) || LATE.includes(resolved))
        found.push(
          `${locationOf(source, resolved)}: ${module} is loaded at each start: ${[...route, source, module].join(' -> ')} (import one of them on first use)`,
        );
      else if (!routes.has(resolved)) routes.set(resolved, [...route, source]);
    }
  }
  return found;
}

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
