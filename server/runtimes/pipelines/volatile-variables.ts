/** Variables that differ in each run, and that no include can depend on. */
const OF_RUN =
  'PLATFORM_API_(KEY|SECRET)|CI_JOB_(ID|TOKEN|URL|STARTED_AT)|CI_REPOSITORY_URL|CI_(REGISTRY|DEPENDENCY_PROXY)_PASSWORD|CI_PIPELINE_(ID|IID|URL|CREATED_AT)';
export const VOLATILE = new RegExp(`^(${OF_RUN})$`);

/** Words, as an extended regular expression, in texts whose result may differ in each run. In some engines, the names lead to this machine. */
export const VOLATILE_WORDS = `${OF_RUN}|host\\.(docker|containers)\\.internal`;
