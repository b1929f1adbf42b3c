import { isDeepStrictEqual } from 'node:util';
import type { Applied } from '../../api/routes/publishing.ts';
import { PlatformError } from '../../model/errors.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { propertiesFor } from './dependencies.ts';
import { COLLECTIONS, digestOf } from './exportable-resource.ts';
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

  const applyStep = async ({ reported, exportable, before }: PlannedStep): Promise<void> => {
    const needs = propertiesFor(exportable, before?.record, destination, {
      provider: providerOf(exportable, source),
      lambdas,
    });
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

  for (const [at, step] of steps.entries()) {
    const { reported, exportable } = step;
    try {
      if (reported.action !== 'unchanged') {
        await applyStep(step);
        done.push(reported.id);
      }
      await syncBaseline.recordSync(reported.id, digestOf(exportable.form));
    } catch (failure) {
      if (!(failure instanceof PlatformError)) throw failure;
      const rest = steps.slice(at).filter((pending) => pending.reported.action !== 'unchanged');
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
