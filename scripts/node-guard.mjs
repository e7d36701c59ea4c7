// Plain JavaScript, so that a Node too old for the sources can still read what it is told here.
const wanted = [22, 18];
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < wanted[0] || (major === wanted[0] && minor < wanted[1])) {
  console.error(
    `Rostrum needs Node ${wanted.join('.')} or newer and this is ${process.version}: ` +
      'run `npm ci` without --omit=dev and --ignore-scripts, which brings Node 24 for the npm scripts, ' +
      'or install Node 24.',
  );
  process.exit(1);
}
