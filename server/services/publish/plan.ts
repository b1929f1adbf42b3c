import { isDeepStrictEqual } from 'node:util';
import jsonPatch from 'fast-json-patch';
import type { Applied, PublishingStep } from '../../api/routes/publishing.ts';
import { PlatformError } from '../../model/errors.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import { COLLECTIONS, digestOf, type ExportableResource, exportablesOf } from './exportable-resource.ts';
import type { PlatformRecord } from './platform.ts';
import type { TargetSnapshot } from './target-snapshot.ts';

/** Digests of both sides after the last push or pull, by resource. */
export interface SyncBaseline {
  last(step: string): string | undefined;
  recordSync(step: string, digest: string): Promise<void>;
}

export interface PlannedStep {
  reported: PublishingStep;
  exportable: ExportableResource;
  before: ExportableResource | undefined;
}

interface Sides {
  source: TargetSnapshot;
  destination: TargetSnapshot;
}

/** The steps that make the destination equal to the source. Changes nothing. */
export async function planSteps(
  sides: Sides,
  syncBaseline: SyncBaseline,
): Promise<{ steps: PlannedStep[]; ignoredParts: string[] }> {
  const { source, destination } = sides;
  const ignoredParts = new Set<string>();
  const sourceResources = exportablesOf(source, (sentence) => ignoredParts.add(sentence));
  const existingById = new Map(exportablesOf(destination, () => {}).map((existing) => [existing.id, existing]));
  const lambdas = new Map([
    ...sourceResources.filter(({ kind }) => kind === 'lambda').map(({ name }) => [name, 'new'] as const),
    ...destination.lambdas.map(({ name, id }) => [name, id] as const),
  ]);
  const steps: PlannedStep[] = [];
  for (const exportable of sourceResources) {
    const before = existingById.get(exportable.id);
    const patch = before
      ? jsonPatch.compare(before.form, exportable.form)
      : [{ op: 'add', path: '', value: exportable.form }];
    const action = before === undefined ? 'create' : patch.length === 0 ? 'unchanged' : 'update';
    const needs = propertiesFor(exportable, before?.record, sides, lambdas);
    const conflict = action === 'update' && before ? conflictOf(before, exportable, syncBaseline) : undefined;
    const reported: PublishingStep = {
      ...{ id: exportable.id, kind: exportable.kind, name: exportable.name, action, patch },
      diff: action === 'unchanged' ? [] : await readableDiff(before?.form, exportable.form),
      ...(conflict !== undefined && { conflict }),
      ...('missing' in needs && action !== 'unchanged' && { missing: needs.missing }),
    };
    steps.push({ reported, exportable, before });
  }
  return { steps, ignoredParts: [...ignoredParts] };
}

function providerOf({ record }: ExportableResource, { providers }: TargetSnapshot): string | undefined {
  const { provider } = record.properties;
  const [id, name] = [memberOf(provider, 'id'), memberOf(provider, 'name')];
  return providers.find((candidate) => candidate.id === id)?.name ?? (typeof name === 'string' ? name : undefined);
}

function conflictOf(
  before: ExportableResource,
  exportable: ExportableResource,
  syncBaseline: SyncBaseline,
): string | undefined {
  const recordSync = syncBaseline.last(before.id);
  if (recordSync === undefined)
    return 'it exists at the destination with different contents, and was never pushed or pulled';
  if (recordSync === digestOf(before.form)) return undefined;
  return recordSync === digestOf(exportable.form)
    ? 'it changed only at the destination since the last push or pull: copy it in the other direction'
    : 'it changed on both sides since the last push or pull';
}

/** Lines that begin with `+`, `-` or a blank, of both as YAML: code is read as code. */
async function readableDiff(before: object | undefined, after: object): Promise<string[]> {
  // Loaded only now, because only push and pull need them.
  const [{ structuredPatch }, { stringify }] = await Promise.all([import('diff'), import('yaml')]);
  const text = (form: object | undefined) => (form ? stringify(form, { lineWidth: 0 }) : '');
  const { hunks } = structuredPatch('', '', text(before), text(after), undefined, undefined, { context: 2 });
  return hunks.flatMap(({ lines }, index) => [
    ...(index > 0 ? [' ...'] : []),
    ...lines.filter((line) => !line.startsWith('\\')),
  ]);
}

/** Applies the steps in order and stops at the first failure; reports the completed steps, which are not undone. */
export async function applySteps(
  sides: Sides,
  steps: readonly PlannedStep[],
  syncBaseline: SyncBaseline,
): Promise<Applied> {
  const { destination } = sides;
  const { platform, fqon, environment } = destination;
  const lambdas = new Map(destination.lambdas.map(({ name, id }) => [name, id]));
  const apis = new Map(destination.apis.map(({ name, id }) => [name, id]));
  const done: string[] = [];

  const applyStep = async ({ reported, exportable, before }: PlannedStep): Promise<void> => {
    const needs = propertiesFor(exportable, before?.record, sides, lambdas);
    if ('missing' in needs)
      throw new PlatformError('publish_conflict', `${needs.missing} does not exist at the destination`);
    const { properties } = needs;
    const updated = { ...exportable.form, properties };
    if (before) {
      const path = `/${fqon}/${COLLECTIONS[reported.kind]}/${before.record.id}`;
      const now = await platform.get(path);
      if (!isDeepStrictEqual(now.properties, before.record.properties))
        throw new PlatformError(
          'changed_meanwhile',
          `${reported.id} was changed at the destination in the meantime. Review the new plan.`,
        );
      await platform.patch(path, operationsFor(before.record, updated, before.form));
      return;
    }
    const body = { name: exportable.record.name, ...updated };
    if (reported.kind === 'endpoint') {
      const api = apis.get(exportable.api ?? '');
      if (api === undefined)
        throw new PlatformError(
          'publish_conflict',
          `API '${exportable.api}' for ${reported.id} does not exist at the destination`,
        );
      await platform.create(`/${fqon}/apis/${api}/apiendpoints`, body);
      return;
    }
    const { id } = await platform.create(`/${fqon}/environments/${environment.id}/${COLLECTIONS[reported.kind]}`, body);
    (reported.kind === 'lambda' ? lambdas : apis).set(exportable.name, id);
  };

  for (const [index, step] of steps.entries()) {
    const { reported, exportable } = step;
    try {
      if (reported.action !== 'unchanged') {
        await applyStep(step);
        done.push(reported.id);
      }
      await syncBaseline.recordSync(reported.id, digestOf(exportable.form));
    } catch (failure) {
      if (!(failure instanceof PlatformError)) throw failure;
      const rest = steps.slice(index).filter((pending) => pending.reported.action !== 'unchanged');
      return {
        done,
        failed: { step: reported.id, sentence: failure.message },
        notDone: rest.map((pending) => pending.reported.id),
      };
    }
  }
  return { done, notDone: [] };
}

/** A patch of whole members, which any platform supports. @param current the current copied members; unwanted ones are removed */
function operationsFor(
  before: { properties: Record<string, Json> },
  target: { properties: JsonObject; description?: Json; tags?: Json; variables?: Json },
  current: { properties: JsonObject },
): { op: string; path: string; value?: Json }[] {
  const members = ['description', 'tags', 'variables'].flatMap((name) =>
    change(`/${name}`, Reflect.get(before, name), Reflect.get(target, name)),
  );
  const names = new Set([...Object.keys(current.properties), ...Object.keys(target.properties)]);
  names.delete('lambda');
  const properties = [...names].flatMap((name) =>
    change(`/properties/${name}`, before.properties[name], target.properties[name]),
  );
  return [...members, ...properties];
}

function change(path: string, before: Json | undefined, after: Json | undefined) {
  if (isDeepStrictEqual(before, after)) return [];
  if (after === undefined) return [{ op: 'remove', path }];
  return [{ op: before === undefined ? 'add' : 'replace', path, value: after }];
}

/** The properties to send, with ids of the destination, or what is missing there. @param before the record there, if any */
function propertiesFor(
  exportable: ExportableResource,
  before: PlatformRecord | undefined,
  { source, destination: { secrets, providers } }: Sides,
  lambdas: ReadonlyMap<string, string>,
): { properties: JsonObject } | { missing: string } {
  const { kind, form, name } = exportable;
  const properties = structuredClone(form.properties);
  if (kind === 'lambda') {
    if (typeof properties.code === 'string') properties.code = Buffer.from(properties.code).toString('base64');
    const missingSecrets: string[] = [];
    if (Array.isArray(properties.secrets)) {
      properties.secrets = properties.secrets.map((mount) => {
        if (!isJsonObject(mount) || typeof mount.secret !== 'string') return mount;
        const { secret, ...rest } = mount;
        const existing = secrets.find((candidate) => candidate.name === secret);
        const key = typeof rest.secret_key === 'string' ? rest.secret_key : undefined;
        const hasKey = existing && (key === undefined || existing.keys.length === 0 || existing.keys.includes(key));
        if (!hasKey) missingSecrets.push(`secret '${secret}'${key === undefined ? '' : ` with key '${key}'`}`);
        return { secret_id: existing?.id ?? '', ...rest };
      });
    }
    if (missingSecrets.length > 0) {
      const missingList = [...new Set(missingSecrets)].join(', ');
      return { missing: `${missingList}: create it at the destination first; values of secrets are never copied` };
    }
    if (before === undefined) {
      const providerName = providerOf(exportable, source);
      const provider =
        providers.find((candidate) => candidate.name === providerName) ??
        (providers.length === 1 ? providers[0] : undefined);
      if (!provider) {
        const providerNames = providers.map((candidate) => candidate.name).join(', ');
        const choice =
          providerNames === '' ? 'the destination has no Lambda provider' : `the destination has ${providerNames}`;
        return { missing: `a provider named '${providerName}' that runs lambdas: ${choice}` };
      }
      properties.provider = { id: provider.id };
    }
  }
  if (kind === 'endpoint') {
    const { lambda } = properties;
    const id = typeof lambda === 'string' ? lambdas.get(lambda) : undefined;
    if (id === undefined) return { missing: `lambda '${lambda}', which endpoint ${name} calls` };
    delete properties.lambda;
    properties.implementation_id = id;
    keepIdentities(properties, before);
  }
  return { properties };
}

/** The permissions of an endpoint at the destination stay. */
function keepIdentities({ plugins }: JsonObject, before: PlatformRecord | undefined): void {
  const security = memberOf(plugins, 'platformSecurity');
  const existingSecurity = memberOf(before?.properties.plugins, 'platformSecurity');
  if (!isJsonObject(security) || !isJsonObject(existingSecurity)) return;
  for (const list of ['users', 'groups'])
    if (existingSecurity[list] !== undefined) security[list] = existingSecurity[list];
}
