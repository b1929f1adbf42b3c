export { sharedPlatform } from '../../server/testing/platform.ts';
