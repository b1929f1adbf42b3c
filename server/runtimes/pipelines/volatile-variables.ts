/** Variables that differ in each run, and that no include can depend on. */
export const VOLATILE =
  /^(PLATFORM_API_(KEY|SECRET)|CI_JOB_(ID|TOKEN|URL|STARTED_AT)|CI_REPOSITORY_URL|CI_(REGISTRY|DEPENDENCY_PROXY)_PASSWORD|CI_PIPELINE_(ID|IID|URL|CREATED_AT))$/;
