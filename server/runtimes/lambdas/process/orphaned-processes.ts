import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { lifeOf, type Owner, ownerHere, ownerSchema } from '../../../system/owner.ts';
import { environmentOf, livingPids } from '../../../system/processes.ts';
import { INHERITANCE, type Origin } from './protocol.ts';

const originSchema = z.object({ owner: ownerSchema, platform: z.string(), process: z.int() });
type Known = z.output<typeof originSchema>;

/** What ends at one moment is looked for together. */
const GATHER_MS = 50;
/** Processes looked at in one turn of the event loop; a look takes some 50 microseconds. */
const PER_TURN = 16;
/** A stop waits no longer for all to be found. */
const END_LIMIT_MS = 1_000;
/** What is killed may have started something a moment before: so often it is looked again. */
const MAX_ROUNDS = 20;

/**
 * Ends processes that have left the process groups of lambdas (`setsid`, `detached`), recognized by their environment on systems with
 * `/proc`.
 */
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
    const mayLive = ({ platform, owner }: Known): Promise<boolean> => {
      const known = lives.get(platform) ?? lifeOf(owner).then((life) => life !== 'gone');
      lives.set(platform, known);
      return known;
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

type OwnershipTest = (origin: Known) => boolean | Promise<boolean>;

async function killWhere(matches: OwnershipTest): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) if ((await killOnce(matches)) === 0) return;
}

async function killOnce(matches: OwnershipTest): Promise<number> {
  let killed = 0;
  for (const [at, pid] of livingPids().entries()) {
    if (at % PER_TURN === PER_TURN - 1) await nextTurn();
    const text = pid === process.pid ? undefined : originTextOf(pid);
    const origin = text === undefined ? undefined : readOrigin(text);
    if (!origin || !(await matches(origin))) continue;
    // The process id may belong to another process by now. There is no wait between this check and the signal.
    if (originTextOf(pid) !== text) continue;
    try {
      process.kill(pid, 'SIGKILL');
      killed += 1;
    } catch {
      // It has ended by itself, or has become another user's.
    }
  }
  return killed;
}

/** The variable as the process was started with it; undefined where it has none or is not ours to look at. */
function originTextOf(pid: number): string | undefined {
  const pairs = environmentOf(pid)?.split('\0');
  return pairs?.find((pair) => pair.startsWith(`${INHERITANCE}=`))?.slice(INHERITANCE.length + 1);
}

function readOrigin(text: string): Known | undefined {
  try {
    return z.object({ origin: originSchema }).parse(JSON.parse(text)).origin;
  } catch {
    return undefined;
  }
}
