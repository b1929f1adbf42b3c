import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { rootPairOf } from './account.ts';
import { send } from './client.ts';
import { CliRunner, type RunningCommand } from './command.ts';
import { type Platform, startPlatform } from './platform.ts';
import type { Body } from './tenant.ts';

const run = promisify(execFile);

/** Definitions that were already validated with the schema of the reader. */
const validated = new Set<string>();

/**
 * Tells the reader of a definition whether the same text was already validated with the schema. The validation takes most of the time of a
 * short pipeline.
 */
export function readerSettings(dir: string): Record<string, string> {
  const definition = readFileSync(join(dir, '.gitlab-ci.yml'), 'utf8');
  if (validated.has(definition)) return { GCL_JSON_SCHEMA_VALIDATION: 'false' };
  validated.add(definition);
  return {};
}

/** A repository and a platform to run its pipelines with the packaged command. */
export class PipelineBench {
  readonly platform: Platform;
  readonly cli = new CliRunner();
  /** Contains the repository, and is the home folder of the command. */
  readonly folder: string;
  readonly dir: string;
  /** Parent of the folders of runs. */
  readonly runs: string;

  private constructor(platform: Platform, folder: string) {
    this.platform = platform;
    this.folder = folder;
    this.dir = join(folder, 'app');
    this.runs = join(folder, 'runs');
  }

  /** Creates a repository with these files on a branch `feature/a` off `main`. */
  static async make(
    options: Parameters<typeof startPlatform>[0],
    files: Readonly<Record<string, string>>,
  ): Promise<PipelineBench> {
    const folder = await mkdtemp(join(tmpdir(), 'terrarium bench '));
    const harness = new PipelineBench(await startPlatform({ seed: 'demo', ...options }), folder);
    await mkdir(harness.runs);
    await run('git', ['init', '-q', '-b', 'main', harness.dir]);
    await harness.commit(files, 'Begin');
    await harness.git('switch', '-q', '-c', 'feature/a');
    return harness;
  }

  async git(...args: string[]): Promise<string> {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'protocol.file.allow=always'];
    return (await run('git', ['-C', this.dir, ...identity, ...args])).stdout.trim();
  }

  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(this.dir, path)), { recursive: true });
      await writeFile(join(this.dir, path), content);
    }
  }

  /** Commits the files; resolves to the short id of the commit. */
  async commit(files: Readonly<Record<string, string>>, title = 'Change'): Promise<string> {
    await this.write(files);
    await this.git('add', '-A');
    await this.git('commit', '-q', '--allow-empty', '-m', title);
    return this.git('rev-parse', '--short=8', 'HEAD');
  }

  /** Runs `terrarium pipeline WORDS` against the platform. */
  start(args: readonly string[], env: Record<string, string> = {}): RunningCommand {
    const { baseUrl, rootCredentials } = this.platform.emulator;
    const { apiKey, apiSecret = '' } = rootCredentials;
    return this.cli.start(['pipeline', ...args, '--base-url', baseUrl], {
      env: { TERRARIUM_API_KEY: apiKey, TERRARIUM_API_SECRET: apiSecret, HOME: this.folder, TMPDIR: this.runs, ...env },
    });
  }

  /** Runs `terrarium pipeline run` in the repository to its end. */
  run(...more: string[]) {
    return this.start(['run', this.dir, '--project', 'fern-moss/app', ...more], readerSettings(this.dir)).ended;
  }

  /** The existing folders of runs. */
  async runFolders(): Promise<string[]> {
    return (await readdir(this.runs)).filter((name) => name.startsWith('terrarium-pipeline-'));
  }

  async inspect(path: string, method = 'GET'): Promise<Body> {
    const url = `${this.platform.emulator.baseUrl}/inspect/${path}`;
    return (await send(method, url, { auth: rootPairOf(this.platform) })).body;
  }

  async close(): Promise<void> {
    await this.cli.close();
    await this.platform.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
