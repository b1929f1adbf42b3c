import type { Instance } from './engine.ts';
import { type Known, verdictOn } from './status.ts';

/** One instance as people see it. */
export interface InstanceView extends Omit<Instance, 'health'> {
  /** What its health checks say, the engine's and ours; `none` when it has none. */
  health: 'none' | 'unknown' | 'healthy' | 'unhealthy';
  /** Is it made from the definition of now? In a rolling update the old ones are not. */
  isCurrent: boolean;
}

/** Instances with what their health checks say of them. */
export function instanceViews(
  instances: readonly Instance[],
  { health, hasHealthChecks, revision }: Pick<Known, 'health' | 'hasHealthChecks'> & { revision: string },
): InstanceView[] {
  return instances.map((one) => ({
    ...one,
    health: hasHealthChecks || one.health !== 'none' ? verdictOn(one, health) : 'none',
    isCurrent: one.revision === revision,
  }));
}
