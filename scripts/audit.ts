// Fails if `npm audit` knows a high or critical advisory for a package that the program runs on.
// A registry that doesn't respond is reported, and isn't a failure.
//
//   node scripts/audit.ts

import { npm } from './npm.ts';

const options = '--omit=dev --audit-level=high --fetch-retries=1 --fetch-timeout=20000';
const { status, stdout, stderr } = npm(['audit', ...options.split(' '), '--loglevel=notice']);
if (!/\bvulnerabilit(?:y|ies)\b/.test(stdout)) {
  console.log(`ADVISORIES WERE NOT CHECKED: ${stderr.trim().split('\n')[0]}`);
} else {
  console.log(stdout.trim());
  if (status !== 0) {
    process.exitCode = 1;
    console.log(
      'ADVISORIES: update these packages. An advisory can be newer than the last commit.',
    );
  }
}
