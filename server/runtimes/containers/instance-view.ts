import type { Instance } from './engine.ts';
import { type Known, verdictOn } from './status.ts';

export interface InstanceView extends Omit<Instance, 'health' | 'isFailing'> {
  /** Result of its health checks, the engine's and ours; `none` if it has none. */
  health: 'none' | 'unknown' | 'healthy' | 'unhealthy';
  /** Was it created from the current definition? During a rolling update, the old ones were not. */
  isCurrent: boolean;
}

export function instanceViews(
  instances: readonly Instance[],
  { health, hasHealthChecks }: Pick<Known, 'health' | 'hasHealthChecks'>,
  isCurrent: (instance: Instance) => boolean,
): InstanceView[] {
  return instances.map((instance) => {
    const { isFailing: _, ...one } = instance;
    return {
      ...one,
      health: hasHealthChecks || one.health !== 'none' ? verdictOn(one, health) : 'none',
      isCurrent: isCurrent(instance),
    };
  });
}
