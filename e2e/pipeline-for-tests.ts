import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Run, Workplace } from '../server/cli/command-for-tests.ts';
import { rootPairOf } from './account.ts';
import { send } from './client.ts';
import type { Body } from './place.ts';
import { type Platform, startPlatform } from './platform.ts';

const run = promisify(execFile);

/** Definitions that have been held against the reader's schema. */
const held = new Set<string>();

/**
 * What tells the reader of a checkout's definition that it has been held against its schema before, where it has: that is most of
 * what a short pipeline computes, and what it says of the same text is the same.
 */
export function readerSettings(dir: string): Record<string, string> {
  const definition = readFileSync(join(dir, '.gitlab-ci.yml'), 'utf8');
  if (held.has(definition)) return { GCL_JSON_SCHEMA_VALIDATION: 'false' };
  held.add(definition);
  return {};
}

/** A repository and a platform to run its pipelines against, with the command as it is shipped. */
export class PipelineBench {
  readonly platform: Platform;
  readonly workplace = new Workplace();
  /** Holds the repository, and is the home of whoever runs the command. */
  readonly folder: string;
  readonly dir: string;
  /** Where runs have their folders. */
  readonly runs: string;

  private constructor(platform: Platform, folder: string) {
    this.platform = platform;
    this.folder = folder;
    this.dir = join(folder, 'app');
    this.runs = join(folder, 'runs');
  }

  /** With a repository of these files on a branch `feature/a` off `main`. */
  static async make(
    options: Parameters<typeof startPlatform>[0],
    files: Readonly<Record<string, string>>,
  ): Promise<PipelineBench> {
    const folder = await mkdtemp(join(tmpdir(), 'terrarium bench '));
    const bench = new PipelineBench(await startPlatform({ seed: 'demo', ...options }), folder);
    await mkdir(bench.runs);
    await run('git', ['init', '-q', '-b', 'main', bench.dir]);
    await bench.commit(files, 'Begin');
    await bench.git('switch', '-q', '-c', 'feature/a');
    return bench;
  }

  async git(...args: string[]): Promise<string> {
    const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'protocol.file.allow=always'];
    return (await run('git', ['-C', this.dir, ...who, ...args])).stdout.trim();
  }

  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(this.dir, path)), { recursive: true });
      await writeFile(join(this.dir, path), content);
    }
  }

  /** Commits the files; resolves to the commit's short id. */
  async commit(files: Readonly<Record<string, string>>, title = 'Change'): Promise<string> {
    await this.write(files);
    await this.git('add', '-A');
    await this.git('commit', '-q', '--allow-empty', '-m', title);
    return this.git('rev-parse', '--short=8', 'HEAD');
  }

  /** `terrarium pipeline WORDS`, against the platform. */
  start(words: readonly string[], env: Record<string, string> = {}): Run {
    const { baseUrl, rootCredentials } = this.platform.emulator;
    const { apiKey, apiSecret = '' } = rootCredentials;
    return this.workplace.start(['pipeline', ...words, '--base-url', baseUrl], {
      env: { TERRARIUM_API_KEY: apiKey, TERRARIUM_API_SECRET: apiSecret, HOME: this.folder, TMPDIR: this.runs, ...env },
    });
  }

  /** `terrarium pipeline run` in the repository, to its end. */
  run(...more: string[]) {
    return this.start(['run', this.dir, '--project', 'fern-moss/app', ...more], readerSettings(this.dir)).ended;
  }

  /** Folders of runs that are there. */
  async runFolders(): Promise<string[]> {
    return (await readdir(this.runs)).filter((name) => name.startsWith('terrarium-pipeline-'));
  }

  async inspect(path: string, method = 'GET'): Promise<Body> {
    const url = `${this.platform.emulator.baseUrl}/inspect/${path}`;
    return (await send(method, url, { auth: rootPairOf(this.platform) })).body;
  }

  async close(): Promise<void> {
    await this.workplace.close();
    await this.platform.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
