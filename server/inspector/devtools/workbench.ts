import type { TestEvent } from '../../api/routes/workbench.ts';
import type { Change } from '../../model/commit.ts';
import { decodeSource } from '../../model/decode-text.ts';
import { PlatformError } from '../../model/errors.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { Uuid } from '../../model/record.ts';
import { LAMBDA } from '../../model/types/lambda.ts';
import type { LambdaService } from '../../runtimes/lambdas/lambda-service.ts';
import { systemActor } from '../../services/resources/actor.ts';
import type { ResourceService } from '../../services/resources/resource-service.ts';
import { type FileLink, LinkedFiles } from './linked-files.ts';

export interface WorkbenchOptions {
  /** Stored links and test events, by lambda. */
  logs: { 'linked-files': KeyedLog<FileLink>; 'test-events': KeyedLog<{ events: TestEvent[] }> };
  service: ResourceService;
  lambdas: Pick<LambdaService, 'debugState' | 'debug' | 'endDebugging' | 'schedule'>;
  nowMs(): number;
  onChange(): void;
}

export function createWorkbench({ logs, service, lambdas, nowMs, onChange }: WorkbenchOptions) {
  const { view } = service;
  const links = new LinkedFiles({
    log: logs['linked-files'],
    sourceOf(lambdaId) {
      const lambda = view.find(lambdaId);
      if (lambda?.type !== LAMBDA) throw new PlatformError('not_found', `lambda ${lambdaId} not found`);
      const { code, code_type } = lambda.properties;
      return String(code_type).toLowerCase() === 'package' ? undefined : decodeSource(String(code ?? ''));
    },
    async save(lambdaId, source) {
      const value = Buffer.from(source).toString('base64');
      await service.patch(systemActor(view.root, 'file'), lambdaId, [{ op: 'add', path: '/properties/code', value }]);
    },
    onChange,
    nowMs,
  });
  return {
    links,
    testEvents: (lambdaId: Uuid) => logs['test-events'].get(lambdaId)?.events ?? [],
    async replaceTestEvents(lambdaId: Uuid, events: TestEvent[]) {
      await logs['test-events'].put(lambdaId, { events });
      onChange();
    },
    debugger: lambdas,
    /** Must be called for every changed lambda: removes the state of a deleted one. */
    async changed({ before, after }: Change) {
      if (!before || after) return;
      await links.unlink(before.id);
      await logs['test-events'].remove(before.id);
    },
  };
}
