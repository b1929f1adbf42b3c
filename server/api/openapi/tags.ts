import { resourceTypes } from '../../model/registry.ts';
import { namingOf } from '../routes/type-naming.ts';

/** The tags of one service in reading order, each with a description. */
interface TagGroup {
  name: string;
  tags: readonly (readonly [name: string, description: string])[];
}

export function tagGroups(): readonly TagGroup[] {
  return [
    {
      name: 'Resource service',
      tags: [
        ['Platform', 'Health and version.'],
        ...resourceTypes.map((type) => [namingOf(type).tag, type.summary] as const),
        ['Entitlements', 'Permissions. A resource has one entitlement per action, which adds to the inherited ones.'],
        ['Resources of any type', 'Every path of a type also exists with `resources` in place of the type name.'],
        ['Reference lists', 'Resource types, environment types, states ... Changing them is not emulated (501).'],
      ],
    },
    {
      name: 'Security service',
      tags: [
        ['Tokens and keys', 'Access tokens for Bearer, API keys for Basic authentication.'],
        ['Accounts', 'Accounts are the users of the resource service; a user has the same id in both.'],
        ['Directories', 'Organizations with their accounts and groups.'],
        ['Security service', 'State of the service.'],
      ],
    },
    {
      name: 'Gateway',
      tags: [['Gateway', 'Public endpoints and asynchronous invocation. The gateway has a separate address.']],
    },
    {
      name: 'Emulator',
      tags: [
        ['Logs', 'Logs of lambdas and containers.'],
        ['Invocations', 'Invocations that users start.'],
        ['Workbench', 'Tools for lambda development: test events, linked file, debugger.'],
        ['Publishing', 'Copies lambdas, APIs and endpoints between this platform and another one.'],
        ['Outbound calls', 'Rules for the calls that lambdas make to other hosts.'],
        ['Containers and jobs', 'Instances, usage and terminals.'],
        ['Captured leads', 'Web forms that lambdas sent to the mock CRM.'],
        ['Window', 'Sign-in and status of the window.'],
        ['Delivery', 'The mock GitLab and pipeline runs.'],
        ['History', 'Changes of the world: view, compare, revert.'],
        ['Snapshots', 'Snapshots of the world, and the platform as one archive.'],
        ['Seeds', 'Export and import of the world as an editable document.'],
      ],
    },
  ];
}
