/** Labels of properties whose names say too little by themselves. */
const WORDS: Readonly<Record<string, string>> = {
  implementation_type: 'Target type',
  implementation_id: 'Target',
  resource: 'Path',
  env: 'Environment variables',
  cmd: 'Command',
  cpus: 'CPUs',
  num_instances: 'Instances',
  port_mappings: 'Ports',
  memory: 'Memory (MB)',
  timeout: 'Time-out (s)',
  code_type: 'Where the code comes from',
  package_url: 'Address of the package',
  periodic_info: 'Runs by the clock',
  rate_limit: 'Limit of requests',
  http_methods: 'Methods',
  fqon: 'Full name',
  oid: 'Organization id of the CRM',
};

/** A property's name as people say it: `Target type` for `implementation_type`, `Health checks` for `health_checks`. */
export function propertyWords(name: string): string {
  const words = WORDS[name] ?? name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
