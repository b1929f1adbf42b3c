import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { lifeOf, type Owner, ownerHere, ownerSchema } from '../../../system/owner.ts';
import { killByEnvironment } from '../../../system/process-tree.ts';
import { INHERITANCE, type Origin } from './protocol.ts';

const originSchema = z.object({ owner: ownerSchema, platform: z.string(), process: z.int() });
type KnownOrigin = z.output<typeof originSchema>;

/** The time for which processes that end together are collected. */
const GATHER_MS = 50;
/** A stop waits no longer for all to be found. */
const END_LIMIT_MS = 1_000;

/** Ends processes that have left the process groups of lambdas (`setsid`, `detached`), recognized by their environment where there is `/proc`. */
export class OrphanedProcesses {
  readonly platform = randomUUID();
  readonly #ended = new Set<number>();
  #owner: Promise<Owner> | undefined;
  #sweeping: Promise<void> | undefined;
  #processes = 0;
  #hasAny = false;

  async nextOrigin(): Promise<Origin> {
    this.#owner ??= ownerHere(undefined);
    this.#processes += 1;
    const process = this.#processes;
    return { owner: await this.#owner, platform: this.platform, process };
  }

  /** The process has started another one. Whatever is left when the process ends is ended shortly afterwards. */
  follow({ process }: Origin, exited: Promise<unknown>): void {
    this.#hasAny = true;
    void exited.then(() => {
      this.#ended.add(process);
      this.#sweeping ??= this.#sweep();
    });
  }

  /** Ends those of all processes of this platform. If the machine is too busy for it, the reaper does the rest. */
  async endAll(): Promise<void> {
    if (!this.#hasAny) return;
    const all = killWhere(({ platform }) => platform === this.platform);
    await Promise.race([all, wait(END_LIMIT_MS, undefined, { ref: false })]);
  }

  /** Ends what platforms have left behind that were killed together with all that should have cleared up after them. */
  async endLeftovers(): Promise<void> {
    const lives = new Map<string, Promise<boolean>>();
    const mayLive = ({ platform, owner }: KnownOrigin): Promise<boolean> => {
      const knownLife = lives.get(platform) ?? lifeOf(owner).then((life) => life !== 'gone');
      lives.set(platform, knownLife);
      return knownLife;
    };
    await killWhere(async (origin) => !(await mayLive(origin)));
  }

  async #sweep(): Promise<void> {
    await wait(GATHER_MS, undefined, { ref: false });
    const ended = new Set(this.#ended);
    this.#ended.clear();
    await killWhere(({ platform, process }) => platform === this.platform && ended.has(process));
    this.#sweeping = this.#ended.size > 0 ? this.#sweep() : undefined;
  }
}

type OwnershipTest = (origin: KnownOrigin) => boolean | Promise<boolean>;

const killWhere = (matches: OwnershipTest): Promise<void> =>
  killByEnvironment((environment) => {
    const origin = readOrigin(environment);
    return origin !== undefined && matches(origin);
  });

/** Reads the variable as the process was started with it; undefined if it has none. */
function readOrigin(environment: string): KnownOrigin | undefined {
  const text = environment.split('\0').find((pair) => pair.startsWith(`${INHERITANCE}=`));
  try {
    return z.object({ origin: originSchema }).parse(JSON.parse(text?.slice(INHERITANCE.length + 1) ?? '')).origin;
  } catch {
    return undefined;
  }
}
