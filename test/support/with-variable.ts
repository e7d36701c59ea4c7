/** Sets an environment variable during the tests of a `describe`. */
export function withVariable(name: string, value: string): void {
  const given = process.env[name];
  before(() => {
    process.env[name] = value;
  });
  after(() => {
    if (given === undefined) delete process.env[name];
    else process.env[name] = given;
  });
}
