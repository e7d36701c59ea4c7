// Whether an advisory is known for a package that the program runs on, by `npm audit`. An advisory that
// is high or critical is a failure. A registry that cannot tell is none, and is said in a loud line.
//
//   node scripts/audit.ts

import { npm } from './npm.ts';

interface Advisory {
  readonly title: string;
  readonly url: string;
}

interface Report {
  readonly message?: string;
  readonly vulnerabilities?: Readonly<
    Record<
      string,
      {
        readonly severity: string;
        readonly range: string;
        readonly via: readonly (string | Advisory)[];
      }
    >
  >;
}

const { stdout, stderr } = npm(
  ...['audit', '--omit=dev', '--json', '--fetch-retries=1', '--fetch-timeout=20000'],
);

/** @returns undefined when there is no answer */
function read(): Report | undefined {
  try {
    return JSON.parse(stdout) as Report;
  } catch {
    return undefined;
  }
}

const report = read();
if (report?.vulnerabilities === undefined) {
  const reason = report?.message ?? stderr.trim().split('\n').at(-1);
  console.log(`ADVISORIES WERE NOT CHECKED: ${reason}`);
} else {
  const all = Object.entries(report.vulnerabilities);
  const grave = all.filter(([, { severity }]) => severity === 'high' || severity === 'critical');
  for (const [name, { severity, range, via }] of grave) {
    const causes = via.map((one) => (typeof one === 'string' ? one : `${one.title} (${one.url})`));
    console.log(`${name} ${range}, ${severity}: ${causes.join('; ')}`);
  }
  if (grave.length > 0) {
    process.exitCode = 1;
    console.log(
      'ADVISORIES: update these packages. They may be newer than the last commit: then a tree that ' +
        'was green fails without a change.',
    );
  }
  console.log(`${all.length} packages have advisories, ${grave.length} high or critical ones`);
}
