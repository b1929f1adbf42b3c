import { isDeepStrictEqual } from 'node:util';
import type { Carried } from '../contract/publishing.ts';
import { PlatformError } from '../model/errors.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { propertiesFor } from './needs.ts';
import { type Meetings, type PlannedStep, providerOf, type Side } from './plan.ts';
import { digestOf, WORDS } from './portable.ts';

interface CarryRequest {
  source: Side;
  destination: Side;
  steps: readonly PlannedStep[];
  meetings: Meetings;
}

/** Does the steps in their order, and ends with the first that fails: what was done stays, and is told. */
export async function carrySteps({ source, destination, steps, meetings }: CarryRequest): Promise<Carried> {
  const { platform, fqon, environment, ...there } = destination.ground;
  const lambdas = new Map(there.lambdas.map(({ name, id }) => [name, id]));
  const apis = new Map(there.apis.map(({ name, id }) => [name, id]));
  const done: string[] = [];

  const carryOne = async ({ told, wanted, before }: PlannedStep): Promise<void> => {
    const needs = propertiesFor(wanted, before?.record, destination.surroundings, {
      provider: providerOf(wanted, source.surroundings),
      lambdas,
    });
    if ('missing' in needs) throw new PlatformError(409, `there is no ${needs.missing}`);
    const { properties } = needs;
    const own = { ...wanted.form, properties };
    if (before) {
      const path = `/${fqon}/${WORDS[told.kind]}/${before.record.id}`;
      const now = await platform.get(path);
      if (!isDeepStrictEqual(now.properties, before.record.properties))
        throw new PlatformError(409, `${told.id} was changed there just now: look at the plan again`);
      await platform.patch(path, operationsFor(before.record, own, before.form));
      return;
    }
    const body = { name: wanted.record.name, ...own };
    if (told.kind === 'endpoint') {
      const api = apis.get(wanted.api ?? '');
      if (api === undefined) throw new PlatformError(409, `there is no API '${wanted.api}' for ${told.id}`);
      await platform.create(`/${fqon}/apis/${api}/apiendpoints`, body);
      return;
    }
    const { id } = await platform.create(`/${fqon}/environments/${environment.id}/${WORDS[told.kind]}`, body);
    (told.kind === 'lambda' ? lambdas : apis).set(wanted.name, id);
  };

  for (const [at, step] of steps.entries()) {
    const { told, wanted } = step;
    try {
      if (told.action !== 'unchanged') {
        await carryOne(step);
        done.push(told.id);
      }
      await meetings.met(told.id, digestOf(wanted.form));
    } catch (failure) {
      if (!(failure instanceof PlatformError)) throw failure;
      const rest = steps.slice(at).filter((one) => one.told.action !== 'unchanged');
      return {
        done,
        failed: { step: told.id, sentence: failure.message },
        notDone: rest.map((one) => one.told.id),
      };
    }
  }
  return { done, notDone: [] };
}

type Carriable = { properties: JsonObject; description?: Json; tags?: Json; variables?: Json };

/**
 * A patch that any platform knows: whole members, replaced, added or removed. Only what is carried is touched.
 *
 * @param known what is carried of the record as it stands: what is in it and is no longer wanted goes
 */
function operationsFor(
  before: { properties: Record<string, Json> },
  wanted: Carriable,
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
