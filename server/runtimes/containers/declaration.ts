import { z } from 'zod';
import { type Declaration, log, settingNotes } from '../../plugin/declaration.ts';

const MAX_SECONDS = 3_600;

const seconds = (description: string) =>
  z
    .int()
    .min(0)
    .max(MAX_SECONDS)
    .default(10)
    .register(settingNotes, {
      description,
      expected: `a whole number of seconds from 0 to ${MAX_SECONDS}`,
      placeholder: 'SECONDS',
    });

export const containers = {
  settings: {
    containers: z
      .strictObject({
        engine: z
          .string()
          .regex(/^(auto|none|[a-z]+:\/\/\S+)$/)
          .default('auto')
          .register(settingNotes, {
            description: 'container engine: auto (the engine of the docker command), none, or an address',
            expected: 'auto, none or an address such as unix:///var/run/docker.sock or tcp://host:2376',
            placeholder: 'ENGINE',
          }),
        onStop: z.enum(['remove', 'keep']).default('remove').register(settingNotes, {
          description: 'remove or keep running container instances when the platform stops',
          expected: 'remove or keep',
          placeholder: 'remove|keep',
        }),
        drainTimeoutS: seconds(
          'time for open requests to a container instance to end before it is stopped, in seconds',
        ),
        stopTimeoutS: seconds(
          'time for a container instance to end after its stop signal before it is killed, in seconds',
        ),
      })
      .prefault({}),
  },
  topics: ['containers', 'status'] as const,
  hasStatus: true,
  /** Ports of the emulator that containers are published on (D-047). */
  logs: { 'service-ports': log<{ port: number }>({ part: 'servicePorts' }) },
} satisfies Declaration;
