import type { ContainerEngine } from './engine.ts';
import { EngineUnreachable } from './engine-errors.ts';

/**
 * Stands where no engine can be: `containers.engine` is `none`, or an address cannot be used. Every call is told why (D-050).
 *
 * @param reason one sentence
 */
export function absentEngine(address: string, reason: string): ContainerEngine {
  const refuse = async (): Promise<never> => {
    throw new EngineUnreachable(reason);
  };
  return {
    address,
    ping: refuse,
    list: refuse,
    apply: refuse,
    remove: refuse,
    prune: refuse,
    logs: refuse,
    follow: refuse,
    stats: refuse,
    exec: refuse,
    pull: refuse,
    watch: refuse,
    close: () => undefined,
  };
}
