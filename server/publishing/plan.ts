import jsonPatch from 'fast-json-patch';
import type { PublishingStep } from '../contract/publishing.ts';
import { memberOf } from '../model/json.ts';
import type { Ground } from './ground.ts';
import { propertiesFor, type Surroundings } from './needs.ts';
import { digestOf, type Portable, portablesOf } from './portable.ts';

/** What both sides held when something was last carried between them: a digest, by what was carried. */
export interface Meetings {
  last(step: string): string | undefined;
  /** They hold the same now. */
  met(step: string, digest: string): Promise<void>;
}

/** A side of the way. */
export interface Side {
  /** What is looked at: of the source what is meant, of the destination all. */
  ground: Ground;
  surroundings: Surroundings;
}

export interface PlannedStep {
  told: PublishingStep;
  wanted: Portable;
  /** As it stands at the destination. */
  before: Portable | undefined;
}

/** What has to be done at the destination so that it holds what the source does. Changes nothing. */
export async function planSteps(
  { source, destination }: { source: Side; destination: Side },
  meetings: Meetings,
): Promise<{ steps: PlannedStep[]; left: string[] }> {
  const left = new Set<string>();
  const of = ({ ground, surroundings }: Side, tell: (sentence: string) => void) =>
    portablesOf(ground, new Map(surroundings.secrets.map(({ id, name }) => [id, name])), tell);
  const wanted = of(source, (sentence) => left.add(sentence));
  const there = new Map(of(destination, () => {}).map((one) => [one.id, one]));
  const lambdas = new Map([
    ...wanted.filter(({ kind }) => kind === 'lambda').map(({ name }) => [name, 'new'] as const),
    ...destination.ground.lambdas.map(({ name, id }) => [name, id] as const),
  ]);
  const steps: PlannedStep[] = [];
  for (const portable of wanted) {
    const before = there.get(portable.id);
    const patch = before ? jsonPatch.compare(before.form, portable.form) : wholeOf(portable);
    const action = before === undefined ? 'create' : patch.length === 0 ? 'unchanged' : 'update';
    const needs = propertiesFor(portable, before?.record, destination.surroundings, {
      provider: providerOf(portable, source.surroundings),
      lambdas,
    });
    const conflict = action === 'update' && before ? conflictOf(before, portable, meetings) : undefined;
    const told: PublishingStep = {
      ...{ id: portable.id, kind: portable.kind, name: portable.name, action, patch },
      diff: action === 'unchanged' ? [] : await readableDiff(before?.form, portable.form),
      ...(conflict !== undefined && { conflict }),
      ...('missing' in needs && action !== 'unchanged' && { missing: needs.missing }),
    };
    steps.push({ told, wanted: portable, before });
  }
  return { steps, left: [...left] };
}

function wholeOf({ form }: Portable) {
  return [{ op: 'add', path: '', value: form }];
}

/** The name of what runs a lambda at its source. */
export function providerOf({ record }: Portable, { providers }: Surroundings): string | undefined {
  const { provider } = record.properties;
  const [id, name] = [memberOf(provider, 'id'), memberOf(provider, 'name')];
  return providers.find((one) => one.id === id)?.name ?? (typeof name === 'string' ? name : undefined);
}

function conflictOf(before: Portable, wanted: Portable, meetings: Meetings): string | undefined {
  const met = meetings.last(before.id);
  if (met === undefined) return 'it is there already, is another one, and was never carried between these two';
  if (met === digestOf(before.form)) return undefined;
  return met === digestOf(wanted.form)
    ? 'it was changed at its destination since it was last carried, and not here: carry it the other way'
    : 'it was changed on both sides since it was last carried';
}

/** Lines that begin with `+`, `-` or a blank, of both as YAML: code is read as code. */
async function readableDiff(before: object | undefined, after: object): Promise<string[]> {
  // Loaded only now: whoever publishes nothing needs neither.
  const [{ structuredPatch }, { stringify }] = await Promise.all([import('diff'), import('yaml')]);
  const text = (form: object | undefined) => (form ? stringify(form, { lineWidth: 0 }) : '');
  const { hunks } = structuredPatch('', '', text(before), text(after), undefined, undefined, { context: 2 });
  return hunks.flatMap(({ lines }, at) => [
    ...(at > 0 ? [' ...'] : []),
    ...lines.filter((line) => !line.startsWith('\\')),
  ]);
}
