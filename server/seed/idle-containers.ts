import { PlatformError } from '../model/errors.ts';
import type { ContainerLife } from '../resources/core.ts';

/** Runs no container: while a world is made or tried out, records are only checked and kept. */
export const idleContainers: ContainerLife = {
  status: () => ({}),
  confirmed: () => {},
  demandEngine: async () => {
    throw new PlatformError(503, 'no container runs while a world is seeded');
  },
  whenRunning: async () => undefined,
};
