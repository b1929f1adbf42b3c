/** Every screen of the window, by its path below `/ui/`. */
export const SCREENS = [
  '',
  'resources',
  'lambdas',
  'invocations',
  'gateway',
  'containers',
  'leads',
  'pipelines',
  'history',
  'help',
  'settings',
];
