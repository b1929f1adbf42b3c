import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type { Router } from 'express';
import jsonPatch from 'fast-json-patch';
import { type AppliedSeed, type SeedChange, seedRoutes } from '../../api/routes/seeds.ts';
import { sendStream } from '../../api/server/compress.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { parseJson, readText } from '../../api/server/read-body.ts';
import { envWithScm, type ScmAccess, withoutScm } from '../../mocks/scm/scm-access.ts';
import type { Caller } from '../../model/caller.ts';
import { codeToRun } from '../../model/code-to-run.ts';
import { causeOf } from '../../model/commit.ts';
import { PlatformError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { describeRule, type OutboundRule } from '../../model/outbound-rule.ts';
import type { OutboundRulesRequest } from '../../model/outbound-rules-request.ts';
import type { ResourcesById, StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { pathOf } from '../../model/resource-path.ts';
import { HIDDEN } from '../../model/rules/masking.ts';
import type { WorldStore } from '../../storage/world/world-store.ts';
import type { Actor } from '../resources/actor.ts';
import { type CoreOptions, createControlPlaneServices } from '../resources/control-plane.ts';
import { PasswordWork, type RandomPasswords } from '../security/passwords.ts';
import { applySeed } from './apply-seed.ts';
import { exportSeed, type FormOptions, formOf } from './export-seed.ts';
import { parseSeedDocument } from './parse-seed-document.ts';
import { readSentSeed } from './read-seed.ts';
import { sentSeedDocument } from './seed-document.ts';
import { SeedError } from './seed-error.ts';
import { descendants, type Seed, storedSecret } from './seed-node.ts';
import { seedTarget, TrialWorld } from './seed-target.ts';
import type { TextFormat } from './seed-text.ts';

interface SentSeed {
  format: TextFormat;
  text: string;
}

/**
 * Maximum number of attempts to apply a seed when others changed the world meanwhile. Only the first attempt has to
 * wait for anything.
 */
const MAX_ATTEMPTS = 5;

export interface WorldSeedsOptions extends Omit<CoreOptions, 'containers' | 'invoker'> {
  store: Pick<WorldStore, 'view' | 'world' | 'seq' | 'commit'>;
  randomPasswords: RandomPasswords;
  /** The rules for outbound calls; undefined without lambdas. */
  outbound?: { list(): readonly OutboundRule[]; replace(request: OutboundRulesRequest): Promise<unknown> };
  /** Current address of the mock GitLab; undefined without one. */
  scm?(): ScmAccess;
}

export type WorldSeeds = ReturnType<typeof worldSeeds>;

/**
 * Applies seeds to the running world, and exports it as a seed. A seed is applied to a copy of the world by the same service as any other
 * change, without policies (D-215), and the result becomes one commit. Throws PlatformError whose pointers lead into the document.
 */
export function worldSeeds(options: WorldSeedsOptions) {
  const { store, config, addresses, scm, outbound } = options;
  const { typePrefix } = config;

  /** Undefined when the world was changed meanwhile, so that nothing was done. */
  const attempt = async (
    seed: Seed,
    actor: Actor,
    { dryRun, prune }: { dryRun: boolean; prune: boolean },
    passwords: PasswordWork,
  ): Promise<AppliedSeed | undefined> => {
    const { seq } = store;
    const trial = new TrialWorld(store.world.resources);
    const core = createControlPlaneServices({
      ...options,
      store: trial,
      hashPassword: (password) => passwords.hash(password),
    });
    const isPassword = (text: string, hash: string) => passwords.check(text, hash);
    const target = { ...seedTarget(core, actor, options.randomPasswords), isPassword };
    const named = await applySeed(seed, target, { prune });
    const difference = trial.difference();
    const put = difference.put.map(({ id }) => id);
    const world = { before: trial.before, after: trial.view, typePrefix };
    const changes = seedChanges([...named, ...put, ...difference.remove], world);
    const code = codeToRun(trial.view, put);
    const runs = code.length > 0 && { runs: code.map(({ id: _, ...reported }) => reported) };
    const rules = outbound && otherRules(seed.outbound, outbound.list());
    const report = {
      dryRun,
      summary: summaryOf(changes),
      ...runs,
      ...(rules && { outbound: rules.map(describeRule) }),
    };
    if (dryRun) return { ...report, changes: changes.map(withoutTrialId) };
    if (store.seq !== seq) return undefined;
    const commit = await store.commit(difference, causeOf(actor, 'world.apply'));
    if (rules) await outbound.replace({ rules });
    return { ...report, changes, ...(commit && { commit: commit.seq }) };
  };

  return {
    async apply(
      caller: Caller,
      document: SentSeed,
      options: { dryRun: boolean; prune: boolean },
    ): Promise<AppliedSeed> {
      try {
        const read = await readSent(document);
        const seed = scm ? nameScmIn(read, scm()) : read;
        const passwords = new PasswordWork();
        for (let tries = 1; tries <= MAX_ATTEMPTS; tries++) {
          const applied = await attempt(seed, { caller, via: 'seed' }, options, passwords);
          if (applied) return applied;
          passwords.again();
        }
      } catch (cause) {
        throw cause instanceof SeedError ? asPlatformError(cause) : cause;
      }
      throw new PlatformError(
        'changed_meanwhile',
        'other changes to the world prevented applying the seed. Try again.',
      );
    },
    /** A seed document of the present world. @param scope path of an organization, `/` for everything; throws 400, 404 when it names none */
    export(scope: string, format: TextFormat): string {
      const revise = scm && ((form: JsonObject) => withoutScm(form, scm()));
      const { gatewayUrl } = addresses();
      const rules: JsonObject[] =
        scope === '/' && outbound ? outbound.list().map(({ id: _, ...rule }) => ({ ...rule })) : [];
      return exportSeed(store.view, { scope, format, gatewayUrl, typePrefix, rules, ...(revise && { revise }) });
    },
  };
}

type Rules = OutboundRulesRequest['rules'];

/** The rules of a seed, if it has any and they differ from the present ones. */
function otherRules(rules: Rules | undefined, present: readonly OutboundRule[]): Rules | undefined {
  return isDeepStrictEqual(rules?.map(withoutId), present.map(withoutId)) ? undefined : rules;
}

function withoutId<T extends { id?: string | undefined }>({ id: _, ...rule }: T): Omit<T, 'id'> {
  return rule;
}

const REQUEST_NAME = 'seed';

function readSent({ format, text }: SentSeed): Promise<Seed> {
  return readSentSeed(
    format === 'yaml' ? parseSeedDocument(REQUEST_NAME, text) : sentSeedDocument(REQUEST_NAME, parseJson(text)),
  );
}

/** Sets the current address of the mock GitLab in the lambdas of a seed; changes the seed. */
function nameScmIn(seed: Seed, now: ScmAccess): Seed {
  for (const { collection, properties } of descendants(seed.root)) {
    const env = collection === 'lambdas' ? envWithScm(properties?.env, now) : undefined;
    if (properties && env) properties.env = env;
  }
  return seed;
}

function asPlatformError(error: SeedError): PlatformError {
  const { cause, pointer, reason, message } = error;
  const code = cause instanceof PlatformError ? cause.reason : 'invalid_body';
  return new PlatformError(code, message, { details: [{ pointer, message: reason }], cause: error });
}

function summaryOf(changes: readonly SeedChange[]): AppliedSeed['summary'] {
  const summary = { create: 0, update: 0, delete: 0, unchanged: 0 };
  for (const { action } of changes) summary[action] += 1;
  return summary;
}

/**
 * Returns the change without its id, because a resource that a dry run would create gets another one when it is
 * created.
 */
function withoutTrialId(change: SeedChange): SeedChange {
  const { id: _, ...rest } = change;
  return change.action === 'create' ? rest : change;
}

const { compare } = jsonPatch;

interface AppliedWorld extends Pick<FormOptions, 'typePrefix'> {
  before: ResourcesById;
  after: WorldView;
}

/** A placeholder in a patch for a value that cannot be read. */
const NEW_AND_HIDDEN = '<hidden, another than before>';

/** The changes of each of these resources, in their order, with references as paths. */
function seedChanges(ids: Iterable<Uuid>, world: AppliedWorld): SeedChange[] {
  const find = (id: Uuid) => world.after.find(id) ?? world.before.get(id);
  const formed = (record: StoredResource, previous?: StoredResource): JsonObject => ({
    name: record.name,
    ...formOf(record, {
      ...world,
      refer: (id) => {
        const target = find(id);
        return target ? pathOf(target, find) : id;
      },
      secret: (value, path) => {
        const previousValue = previous && storedSecret(previous.properties, record.properties, path);
        return !previous || isDeepStrictEqual(value, previousValue) ? HIDDEN : NEW_AND_HIDDEN;
      },
    }),
  });
  const changeOf = (
    before: StoredResource | undefined,
    after: StoredResource | undefined,
  ): Pick<SeedChange, 'action' | 'patch'> => {
    if (!after) return { action: 'delete', patch: [{ op: 'remove', path: '' }] };
    if (!before) return { action: 'create', patch: [{ op: 'add', path: '', value: formed(after) }] };
    if (isDeepStrictEqual(before, after)) return { action: 'unchanged', patch: [] };
    return { action: 'update', patch: compare(formed(before), formed(after, before)) };
  };
  const changes: SeedChange[] = [];
  for (const id of new Set(ids)) {
    const record = find(id);
    if (!record) continue;
    const change = changeOf(world.before.get(id), world.after.find(id));
    changes.push({ path: pathOf(record, find), type: typeOf(record).collection, id, ...change });
  }
  return changes;
}

const JSON_TYPE = 'application/json';
/** RFC 9512, and what was usual before it. */
const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'] as const;

/** Seeds over HTTP: applied in one commit or not at all, and made of the world. */
export function seedRouter(seeds: WorldSeeds, guard: RouteGuard): Router {
  return mountRoutes(seedRoutes, guard, {
    async applySeed({ caller, query, req }) {
      const { type, text } = await readText(req, [JSON_TYPE, ...YAML_TYPES]);
      if (text === '') throw new PlatformError('invalid_body', 'send the seed document as the body, as JSON or YAML');
      const seedText = { format: type === JSON_TYPE ? 'json' : 'yaml', text } as const;
      return seeds.apply(caller, seedText, query);
    },
    async exportSeed({ query: { scope = '/' }, req, res }) {
      const isJson = req.accepts([YAML_TYPES[0], JSON_TYPE]) === JSON_TYPE;
      const text = seeds.export(scope, isJson ? 'json' : 'yaml');
      res.vary('Accept').type(isJson ? JSON_TYPE : YAML_TYPES[0]);
      await sendStream(Readable.from([Buffer.from(text)]), res);
    },
  });
}
