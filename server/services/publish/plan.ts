import jsonPatch from 'fast-json-patch';
import type { PublishingStep } from '../../api/routes/publishing.ts';
import { memberOf } from '../../model/json.ts';
import { propertiesFor } from './dependencies.ts';
import { digestOf, type ExportableResource, exportablesOf } from './exportable-resource.ts';
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

/** The steps that make the destination equal to the source. Changes nothing. */
export async function planSteps(
  { source, destination }: { source: TargetSnapshot; destination: TargetSnapshot },
  syncBaseline: SyncBaseline,
): Promise<{ steps: PlannedStep[]; ignoredParts: string[] }> {
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
    const needs = propertiesFor(exportable, before?.record, destination, {
      provider: providerOf(exportable, source),
      lambdas,
    });
    const conflict = action === 'update' && before ? conflictOf(before, exportable, syncBaseline) : undefined;
    const reported: PublishingStep = {
      ...{ id: exportable.id, kind: exportable.kind, name: exportable.name, action, patch },
      diff: action === 'unchanged' ? [] : await readableDiff(before?.form, exportable.form),
      ...(conflict !== undefined && { conflict }),
      ...('missing' in needs && action !== 'unchanged' && { missing: needs.missing }),
    };
    steps.push({ reported, exportable: exportable, before });
  }
  return { steps, ignoredParts: [...ignoredParts] };
}

export function providerOf({ record }: ExportableResource, { providers }: TargetSnapshot): string | undefined {
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
  return hunks.flatMap(({ lines }, at) => [
    ...(at > 0 ? [' ...'] : []),
    ...lines.filter((line) => !line.startsWith('\\')),
  ]);
}
