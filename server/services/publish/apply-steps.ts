import { isDeepStrictEqual } from 'node:util';
import type { Applied } from '../../api/routes/publishing.ts';
import { PlatformError } from '../../model/errors.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { propertiesFor } from './dependencies.ts';
import { digestOf, WORDS } from './exportable-resource.ts';
import { type PlannedStep, providerOf, type SyncBaseline } from './plan.ts';
import type { TargetSnapshot } from './target-snapshot.ts';

/** Applies the steps in order and stops at the first failure; reports the completed steps, which are not undone. */
export async function applySteps(
  { source, destination }: { source: TargetSnapshot; destination: TargetSnapshot },
  steps: readonly PlannedStep[],
  syncBaseline: SyncBaseline,
): Promise<Applied> {
  const { platform, fqon, environment } = destination;
  const lambdas = new Map(destination.lambdas.map(({ name, id }) => [name, id]));
  const apis = new Map(destination.apis.map(({ name, id }) => [name, id]));
  const done: string[] = [];

  const applyStep = async ({ reported, wanted, before }: PlannedStep): Promise<void> => {
    const needs = propertiesFor(wanted, before?.record, destination, {
      provider: providerOf(wanted, source),
      lambdas,
    });
    if ('missing' in needs)
      throw new PlatformError('publish_conflict', `${needs.missing} does not exist at the destination`);
    const { properties } = needs;
    const own = { ...wanted.form, properties };
    if (before) {
      const path = `/${fqon}/${WORDS[reported.kind]}/${before.record.id}`;
      const now = await platform.get(path);
      if (!isDeepStrictEqual(now.properties, before.record.properties))
        throw new PlatformError(
          'changed_meanwhile',
          `${reported.id} was changed at the destination in the meantime. Review the new plan.`,
        );
      await platform.patch(path, operationsFor(before.record, own, before.form));
      return;
    }
    const body = { name: wanted.record.name, ...own };
    if (reported.kind === 'endpoint') {
      const api = apis.get(wanted.api ?? '');
      if (api === undefined)
        throw new PlatformError(
          'publish_conflict',
          `API '${wanted.api}' for ${reported.id} does not exist at the destination`,
        );
      await platform.create(`/${fqon}/apis/${api}/apiendpoints`, body);
      return;
    }
    const { id } = await platform.create(`/${fqon}/environments/${environment.id}/${WORDS[reported.kind]}`, body);
    (reported.kind === 'lambda' ? lambdas : apis).set(wanted.name, id);
  };

  for (const [at, step] of steps.entries()) {
    const { reported, wanted } = step;
    try {
      if (reported.action !== 'unchanged') {
        await applyStep(step);
        done.push(reported.id);
      }
      await syncBaseline.recordSync(reported.id, digestOf(wanted.form));
    } catch (failure) {
      if (!(failure instanceof PlatformError)) throw failure;
      const rest = steps.slice(at).filter((one) => one.reported.action !== 'unchanged');
      return {
        done,
        failed: { step: reported.id, sentence: failure.message },
        notDone: rest.map((one) => one.reported.id),
      };
    }
  }
  return { done, notDone: [] };
}

/** A patch of whole members, which any platform supports. @param known the current copied members; unwanted ones are removed */
function operationsFor(
  before: { properties: Record<string, Json> },
  wanted: { properties: JsonObject; description?: Json; tags?: Json; variables?: Json },
  known: { properties: JsonObject },
): { op: string; path: string; value?: Json }[] {
  const members = ['description', 'tags', 'variables'].flatMap((name) =>
    change(`/${name}`, Reflect.get(before, name), Reflect.get(wanted, name)),
  );
  const names = new Set([...Object.keys(known.properties), ...Object.keys(wanted.properties)]);
  names.delete('lambda');
  const properties = [...names].flatMap((name) =>
    change(`/properties/${name}`, before.properties[name], wanted.properties[name]),
  );
  return [...members, ...properties];
}

function change(path: string, before: Json | undefined, after: Json | undefined) {
  if (isDeepStrictEqual(before, after)) return [];
  if (after === undefined) return [{ op: 'remove', path }];
  return [{ op: before === undefined ? 'add' : 'replace', path, value: after }];
}
