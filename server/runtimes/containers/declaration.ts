import { z } from 'zod';
import { type Declaration, log, settingNotes } from '../../plugin/declaration.ts';

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
      })
      .prefault({}),
  },
  topics: ['containers', 'status'] as const,
  counted: true,
  /** Ports of the emulator that containers are published on (D-047). */
  logs: { 'service-ports': log<{ port: number }>({ part: 'servicePorts' }) },
} satisfies Declaration;
