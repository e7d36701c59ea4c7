# Rostrum on port 3000, with its data in the volume /data. It starts only with keys, with an identity
# provider, or with ANONYMOUS, as here on loopback:
#
#   docker build -t rostrum .
#   docker run --read-only --stop-timeout 25 -p 127.0.0.1:3000:3000 -v rostrum:/data -e ANONYMOUS=all rostrum

# The bundle is the same on every platform.
FROM --platform=$BUILDPLATFORM node:24-slim AS bundle
WORKDIR /clone
COPY . .
RUN npm ci --ignore-scripts && npm run tarballs
WORKDIR /rostrum
RUN tar --extract --file /clone/tarballs/rostrum-server-*.tgz --strip-components=1

# scripts/release/rehearse-image.ts runs this stage in a folder.
FROM node:24-slim
COPY --from=bundle /rostrum /rostrum
WORKDIR /rostrum

# Starts the program once on each kind of store and stops it when it is ready, or reports that MongoDB is not. This
# fills Node's compile cache. Each user has a cache of their own. Only root can change this one afterwards.
RUN install --directory --owner=node --group=node /data .cache && \
  setpriv --reuid=node --regid=node --clear-groups node --eval " \
    const url = 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=1'; \
    for (const [store, output] of [['sqlite:/tmp/warm.db', 'stdout'], [url, 'stderr']]) { \
      const args = ['dist/main.js', '--port', '0', '--store', store]; \
      const server = child_process.spawn(process.execPath, args); \
      server[output].once('data', () => server.kill()); \
    }" && \
  chown --recursive root:root .cache && chmod --recursive a+rX .cache && rm /tmp/warm.db

# Temporary files, too, are in /data, since the rest of the file system can be read-only.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 STORE_URL=sqlite:/data/rostrum.db TMPDIR=/data
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 3000

# Checks the process. For the store, a load balancer asks /readyz.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

# Node is process 1 and receives SIGTERM itself.
ENTRYPOINT ["node", "dist/main.js"]
