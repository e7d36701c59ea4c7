#!/usr/bin/env node
// Creates an application from a template: npm create rostrum hexagon my-app

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';

const templates = {
  blog: 'a blog with accounts, on Rostrum and SQLite',
  hexagon: 'a hexagon of 1,000 lines to make your own, without Rostrum',
};
const list = Object.entries(templates).map(([name, what]) => `  ${name.padEnd(9)} ${what}`);
const help = `Usage: npm create rostrum [template] [folder]

${list.join('\n')}

The folder is my-TEMPLATE by default. Options, after --:
  --packages DIR  install Rostrum's packages from the tarballs in this folder
  --no-install    don't install the dependencies`;

/** @param {string} message */
function fail(message) {
  console.error(message);
  process.exit(1);
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  fail(`The templates need Node 22.18 or newer, and this is ${process.version}: install Node 24.`);
}

process.once('uncaughtException', ({ message }) => fail(message));

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      allowNegative: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        install: { type: 'boolean', default: true },
        packages: { type: 'string' },
      },
    });
  } catch (error) {
    return fail(`${error.message}\n\n${help}`);
  }
}

async function askForTemplate() {
  if (!process.stdin.isTTY) return fail(`Name a template.\n\n${help}`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${list.join('\n')}\nTemplate: `);
  terminal.close();
  return answer.trim();
}

/** Returns the dependencies, with Rostrum's packages from the tarballs in a folder. */
function fromTarballs(dependencies, packages) {
  const isFolder = statSync(packages, { throwIfNoEntry: false })?.isDirectory();
  if (!isFolder) fail(`--packages: ${packages} is not a folder.`);
  const files = readdirSync(packages);
  const local = Object.keys(dependencies).filter((name) => /^rostrum(-|$)/.test(name));
  const found = local.map((name) => {
    const file = files.find((one) => one === `${name}-${dependencies[name]}.tgz`);
    if (file === undefined) fail(`${packages} has no ${name}-${dependencies[name]}.tgz.`);
    return [name, `file:${resolve(packages, file)}`];
  });
  return { ...dependencies, ...Object.fromEntries(found) };
}

const { values, positionals } = readArguments();
if (values.help) {
  console.log(help);
  process.exit();
}
if (positionals.length > 2) fail(`"${positionals[2]}" is one argument too many.\n\n${help}`);
const template = positionals[0] ?? (await askForTemplate());
if (!Object.hasOwn(templates, template)) {
  fail(`"${template}" is not a template. Templates are:\n${list.join('\n')}`);
}
const folder = resolve(positionals[1] ?? `my-${template}`);
if (existsSync(folder)) {
  if (!statSync(folder).isDirectory()) fail(`${folder} is not a folder.`);
  if (readdirSync(folder).length > 0) fail(`${folder} is not empty.`);
}

const source = join(import.meta.dirname, 'templates', template);
const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
// A package name of npm has lower-case letters, digits, and a few signs.
const name = basename(folder)
  .toLowerCase()
  .replace(/[^a-z\d._-]+/g, '-')
  .replace(/^[._-]+/, '');
manifest.name = name || `my-${template}`;
if (values.packages) manifest.dependencies = fromTarballs(manifest.dependencies, values.packages);

cpSync(source, folder, { recursive: true });
renameSync(join(folder, 'gitignore'), join(folder, '.gitignore'));
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

const isWindows = process.platform === 'win32';
if (values.install) {
  const options = { cwd: folder, stdio: 'inherit', shell: isWindows };
  const { status } = spawnSync(isWindows ? 'npm.cmd' : 'npm', ['install'], options);
  if (status !== 0) {
    const isFromRegistry = Object.hasOwn(manifest.dependencies, 'rostrum') && !values.packages;
    const hint = `
If npm doesn't find Rostrum's packages (E404), delete the folder, and use --packages DIR with a
folder that has their tarballs.`;
    fail(
      `npm install failed in ${folder}. The files are there: run it again.${isFromRegistry ? hint : ''}`,
    );
  }
}
const path = relative('', folder) || '.';
const quoted = isWindows ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
console.log(`
Created ${folder}. Start it:

  cd ${/^[\w./-]+$/.test(path) ? path : quoted}
${values.install ? '' : '  npm install\n'}  npm start
`);
