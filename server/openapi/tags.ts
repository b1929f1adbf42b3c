import { namingOf } from '../contract/type-naming.ts';
import { resourceTypes } from '../model/registry.ts';

/** The tags of one service, in the order of reading, each with a sentence. */
interface TagGroup {
  name: string;
  tags: readonly (readonly [name: string, description: string])[];
}

/** The services, and what belongs to each. */
export function tagGroups(): readonly TagGroup[] {
  return [
    {
      name: 'Resource service',
      tags: [
        ['Platform', 'Health and version.'],
        ...resourceTypes.map((type) => [namingOf(type).tag, type.summary] as const),
        ['Entitlements', 'Who may do what. A resource has one entitlement per action, which adds to what it inherits.'],
        ['Resources of any type', 'Every path of a type also exists with `resources` in place of its word.'],
        ['Reference lists', 'Resource types, environment types, states ... Changing them is not emulated (501).'],
      ],
    },
    {
      name: 'Security service',
      tags: [
        ['Tokens and keys', 'Access tokens for Bearer, API keys for Basic authentication.'],
        ['Accounts', 'Accounts are the users of the resource service; a user has the same id in both.'],
        ['Directories', 'Organizations with their accounts and groups.'],
        ['Security service', 'How it fares.'],
      ],
    },
    {
      name: 'Gateway',
      tags: [['Gateway', 'Public endpoints, and asynchronous invocation. It listens at an address of its own.']],
    },
    {
      name: 'Emulator',
      tags: [
        ['Logs', 'What lambdas and containers print.'],
        ['Invocations', 'Lambdas run by hand.'],
        ['Workbench', 'What a person works on a lambda with: test events, a linked file, a debugger.'],
        ['Publishing', 'Lambdas and what belongs to them, carried between here and another platform.'],
        ['Outbound calls', 'What becomes of the calls that lambdas make to other hosts.'],
        ['Containers and jobs', 'How they run, beyond their records.'],
        ['Caught leads', 'Web forms that lambdas meant to send to a CRM.'],
        ['Window', 'What the window signs in with and is told.'],
        ['Delivery', 'The source-control stand-in, and runs of pipelines.'],
        ['History', 'Every change of the world: seen, compared, undone.'],
        ['Snapshots', 'The world kept under a name, and the whole instance as one file.'],
        ['Seeds', 'The world as a document that can be kept, edited and applied again.'],
      ],
    },
  ];
}
