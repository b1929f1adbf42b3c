import type { TestEvent } from '../contract/workbench.ts';
import { decodeSource } from '../model/base64-text.ts';
import type { Change } from '../model/commit.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import { LAMBDA } from '../model/types/lambda.ts';
import { rootAct } from '../resources/act.ts';
import type { ResourceService } from '../resources/resource-service.ts';
import { type FileLink, LinkedFiles } from './linked-files.ts';
import type { Workbench } from './workbench-routes.ts';

export interface WorkbenchOptions {
  /** What is kept, by lambda. */
  data: { linkedFiles: KeyedLog<FileLink>; testEvents: KeyedLog<{ events: TestEvent[] }> };
  service: ResourceService;
  lambdas: Workbench['debugger'];
  nowMs(): number;
  /** Told whenever something of it has changed. */
  onChange(): void;
  onFault(fault: unknown): void;
}

/** Joins what a person works on a lambda with. */
export function createWorkbench({ data, service, lambdas, nowMs, onChange, onFault }: WorkbenchOptions) {
  const { view } = service;
  const links = new LinkedFiles({
    log: data.linkedFiles,
    sourceOf(lambdaId) {
      const lambda = view.find(lambdaId);
      if (lambda?.type !== LAMBDA) throw new PlatformError(404, `lambda ${lambdaId} not found`);
      const { code, code_type } = lambda.properties;
      return String(code_type).toLowerCase() === 'package' ? undefined : decodeSource(String(code ?? ''));
    },
    async save(lambdaId, source) {
      const value = Buffer.from(source).toString('base64');
      await service.patch(rootAct(view.root, 'file'), lambdaId, [{ op: 'add', path: '/properties/code', value }]);
    },
    onChange,
    nowMs,
  });
  const forget = async (lambdaId: Uuid): Promise<void> => {
    await links.unlink(lambdaId);
    await data.testEvents.remove(lambdaId);
  };
  return {
    links,
    testEvents: (lambdaId: Uuid) => data.testEvents.get(lambdaId)?.events ?? [],
    async replaceTestEvents(lambdaId: Uuid, events: TestEvent[]) {
      await data.testEvents.put(lambdaId, { events });
      onChange();
    },
    debugger: lambdas,
    start: () => links.start(),
    stop: () => links.stop(),
    /** To be told of every commit: what belongs to a deleted lambda goes with it. */
    changed(changes: readonly Change[]) {
      for (const { before, after } of changes) if (before?.type === LAMBDA && !after) forget(before.id).catch(onFault);
    },
  };
}
