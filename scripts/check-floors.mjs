// Holds the code to the floors of .dependency-cruiser.mjs: node scripts/check-floors.mjs [FOLDER]
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise } from 'dependency-cruiser';
import config from '../.dependency-cruiser.mjs';

const root = resolve(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));
const folders = ['server', 'electron', 'renderer', 'e2e', 'bench'].filter((folder) => existsSync(join(root, folder)));

const { output } = await cruise(folders, { ...config.options, baseDir: root, validate: true, ruleSet: config });
const cruised = new Set(output.modules.map((module) => module.source));

// A TypeScript that the cruiser cannot read makes it find nothing and report success.
const missed = folders.flatMap(sourcesIn).filter((source) => !cruised.has(source));
const complaints = output.summary.violations.map(({ rule, from, to, cycle }) => {
  const comment = config.forbidden.find(({ name }) => name === rule.name).comment;
  const route = cycle ? [from, ...cycle.map(({ name }) => name)].join(' -> ') : from === to ? from : `${from} -> ${to}`;
  return `${rule.name}: ${route} (${comment})`;
});
if (cruised.size === 0) complaints.push('the cruiser read no module at all, so nothing was checked');
else if (missed.length > 0) complaints.push(`the cruiser did not read ${missed.join(', ')}`);

for (const complaint of complaints) console.error(`floors: ${complaint}`);
if (complaints.length > 0) process.exitCode = 1;
else console.log(`floors: ${cruised.size} modules, every import allowed`);

function sourcesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mts)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'));
}
