import type { AppliedSeed, SeedChange } from '../contract/seeds.ts';
import { parseJson } from '../http/read-body.ts';
import type { Caller } from '../model/caller.ts';
import { causeOf } from '../model/cause.ts';
import { codeToRun } from '../model/code-to-run.ts';
import { PlatformError } from '../model/errors.ts';
import type { Act } from '../resources/act.ts';
import { type CoreOptions, createCore } from '../resources/core.ts';
import { PasswordWork } from '../security/password-work.ts';
import { envWithScm, type ScmAccess, withoutScm } from '../standins/scm/scm-place.ts';
import type { WorldStore } from '../store/world-store.ts';
import { applySeed } from './apply-seed.ts';
import { exportSeed } from './export-seed.ts';
import { readSentSeed } from './read-seed.ts';
import { seedChanges } from './seed-changes.ts';
import { sentSeedDocument } from './seed-document.ts';
import { SeedError } from './seed-error.ts';
import { descendants, type Seed } from './seed-node.ts';
import { seedTarget } from './seed-target.ts';
import { yamlOf } from './seed-text.ts';
import { parseSeedDocument, type SeedDocument } from './seed-yaml.ts';
import { TrialWorld } from './trial-world.ts';

/** How often a seed is tried anew when others changed the world meanwhile. Only the first attempt has to wait for anything. */
const MAX_ATTEMPTS = 5;

/** How messages name a document that was sent. */
const SENT = 'seed';

export interface WorldSeedsOptions extends Omit<CoreOptions, 'containers' | 'invoker'> {
  store: Pick<WorldStore, 'view' | 'world' | 'seq' | 'commit'>;
  /** How the source-control stand-in is reached now; undefined where there is none. */
  scm?(): ScmAccess;
}

/** A seed document as it was sent. */
interface SentSeed {
  format: 'json' | 'yaml';
  text: string;
}

export type WorldSeeds = ReturnType<typeof worldSeeds>;

/**
 * Applies seeds to the running world, and makes them of it. What is refused is thrown as PlatformError whose pointers lead into the
 * document.
 *
 * A seed is applied to a copy of the world, by the same service as any other change: rights, validation, references; only policies are
 * not asked, nor told (D-215). What has then become of the copy is made in the world by one commit. So nothing is changed unless all
 * of it can be, it can be undone as one step, and others never see half of it.
 */
export function worldSeeds(options: WorldSeedsOptions) {
  const { store, config, addresses, scm } = options;
  const { typePrefix } = config;

  /** Undefined when the world was changed meanwhile, so that nothing was done. */
  const attempt = async (
    seed: Seed,
    act: Act,
    { dryRun, prune }: { dryRun: boolean; prune: boolean },
    passwords: PasswordWork,
  ): Promise<AppliedSeed | undefined> => {
    const { seq } = store;
    const trial = new TrialWorld(store.world.resources);
    const core = createCore({ ...options, store: trial, hashPassword: (password) => passwords.hash(password) });
    const isPassword = (text: string, hash: string) => passwords.check(text, hash);
    const named = await applySeed(seed, { ...seedTarget(core, act), isPassword }, { prune });
    const difference = trial.difference();
    const put = difference.put.map(({ id }) => id);
    const world = { before: (id: string) => trial.before(id), after: trial.view, typePrefix };
    const changes = seedChanges([...named, ...put, ...difference.remove], world);
    const code = codeToRun(trial.view, put);
    const runs = code.length > 0 && { runs: code.map(({ id: _, ...told }) => told) };
    if (dryRun) return { dryRun, summary: summaryOf(changes), changes: changes.map(withoutTrialId), ...runs };
    if (store.seq !== seq) return undefined;
    // Nobody can come between the line above and the commit.
    const commit = await store.commit(difference, causeOf(act, 'world.apply'));
    return { dryRun, summary: summaryOf(changes), changes, ...runs, ...(commit && { commit: commit.seq }) };
  };

  return {
    async apply(caller: Caller, sent: SentSeed, asked: { dryRun: boolean; prune: boolean }): Promise<AppliedSeed> {
      try {
        const read = await readSentSeed(documentOf(sent));
        const seed = scm ? nameScmIn(read, scm()) : read;
        const passwords = new PasswordWork();
        for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
          const applied = await attempt(seed, { caller, via: 'seed' }, asked, passwords);
          if (applied) return applied;
          passwords.again();
        }
      } catch (cause) {
        throw cause instanceof SeedError ? asPlatformError(cause) : cause;
      }
      throw new PlatformError(
        409,
        'others kept changing the world while the seed was tried on a copy of it; try again',
      );
    },
    /** @param scope path of an organization, `/` for everything. Throws 400, 404 when it names none. */
    export(scope: string, format: SentSeed['format']): string {
      const world = exportSeed(store.view, { scope, gatewayUrl: addresses().gatewayUrl, typePrefix });
      const document = scm ? withoutScm(world, scm()) : world;
      return format === 'yaml' ? yamlOf(document) : `${JSON.stringify(document, null, 2)}\n`;
    },
  };
}

/** Lets the lambdas of a seed name the source-control stand-in as it is reached now; changes the seed. */
function nameScmIn(seed: Seed, now: ScmAccess): Seed {
  for (const { word, properties } of descendants(seed.root)) {
    const env = word === 'lambdas' ? envWithScm(properties?.env, now) : undefined;
    if (properties && env) properties.env = env;
  }
  return seed;
}

function documentOf({ format, text }: SentSeed): SeedDocument {
  return format === 'yaml' ? parseSeedDocument(SENT, text) : sentSeedDocument(SENT, parseJson(text));
}

function asPlatformError(error: SeedError): PlatformError {
  const { cause, pointer, reason, message } = error;
  const status = cause instanceof PlatformError ? cause.status : 400;
  return new PlatformError(status, message, { details: [{ pointer, message: reason }], cause: error });
}

function summaryOf(changes: readonly SeedChange[]): AppliedSeed['summary'] {
  const summary = { create: 0, update: 0, delete: 0, unchanged: 0 };
  for (const { action } of changes) summary[action] += 1;
  return summary;
}

/** What a dry run would create gets another id when it is created. */
function withoutTrialId(change: SeedChange): SeedChange {
  const { id: _, ...rest } = change;
  return change.action === 'create' ? rest : change;
}
