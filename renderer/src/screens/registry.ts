import {
  Box,
  CircleHelp,
  GitBranch,
  History,
  House,
  Inbox,
  ListTree,
  type LucideIcon,
  Mail,
  Settings,
  SquareFunction,
  Waypoints,
  Workflow,
} from 'lucide-react';
import type { Need } from '../api/permissions.tsx';

/** A screen of the window: one entry in the sidebar; its folder of the same name contains `screen.tsx`, a separate bundle. */
export interface ScreenEntry {
  path: string;
  title: string;
  /** The permission that a user needs to see anything here. */
  needs?: Need;
  icon: LucideIcon;
  /** The letter after `g`. */
  letter: string;
  /** The page of the documentation about it. */
  help?: string;
  /** The lower group of the sidebar. */
  isLow?: boolean;
}

const entries = {
  home: { path: '/', help: 'get-started/quick-start', title: 'Home', icon: House, letter: 'h' },
  resources: {
    path: '/resources',
    help: 'get-started/concepts',
    title: 'Resources',
    icon: ListTree,
    letter: 'r',
  },
  lambdas: {
    path: '/lambdas',
    help: 'guides/your-own-lambda',
    title: 'Lambdas',
    needs: 'lambda.view',
    icon: SquareFunction,
    letter: 'l',
  },
  invocations: {
    path: '/invocations',
    help: 'guides/debug-a-web-form-lambda',
    title: 'Invocations',
    needs: 'lambda.view',
    icon: Workflow,
    letter: 'i',
  },
  gateway: {
    path: '/gateway',
    help: 'get-started/connect-your-client',
    title: 'Gateway',
    needs: 'apiendpoint.view',
    icon: Waypoints,
    letter: 'g',
  },
  containers: {
    path: '/containers',
    help: 'guides/containers',
    title: 'Containers',
    needs: 'container.view',
    icon: Box,
    letter: 'c',
  },
  leads: {
    path: '/leads',
    help: 'guides/outbound-calls',
    title: 'Leads',
    needs: 'lambda.view',
    icon: Inbox,
    letter: 'e',
  },
  mails: {
    path: '/mails',
    help: 'guides/mails',
    title: 'Mails',
    needs: 'lambda.view',
    icon: Mail,
    letter: 'm',
  },
  pipelines: {
    path: '/pipelines',
    help: 'guides/run-a-pipeline',
    title: 'Pipelines',
    needs: 'environment.view',
    icon: GitBranch,
    letter: 'p',
  },
  history: {
    path: '/history',
    help: 'reference/window',
    title: 'History',
    icon: History,
    letter: 't',
    isLow: true,
  },
  help: {
    path: '/help',
    title: 'Help',
    icon: CircleHelp,
    letter: 'd',
    isLow: true,
  },
  settings: {
    path: '/settings',
    help: 'reference/settings',
    title: 'Settings',
    icon: Settings,
    letter: 's',
    isLow: true,
  },
} satisfies Record<string, ScreenEntry>;

export type ScreenName = keyof typeof entries;
export const screens: Readonly<Record<ScreenName, ScreenEntry>> = entries;
export const screenNames = Object.keys(entries) as ScreenName[]; // Object.keys forgets the type of the keys
