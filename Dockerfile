# syntax=docker/dockerfile:1
# Rostrum on port 3000, with its data in the volume /data. It starts only with keys, with an identity
# provider, or with ANONYMOUS, as here on loopback:
#
#   docker build -t rostrum .
#   docker run -p 127.0.0.1:3000:3000 -v rostrum:/data -e ANONYMOUS=all rostrum

FROM node:24-slim AS packages
WORKDIR /rostrum
COPY package.json package-lock.json .npmrc ./
COPY packages packages
# No package of a production install needs its install script.
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force

FROM node:24-slim
RUN install --directory --owner=node --group=node /data
WORKDIR /rostrum
COPY --from=packages /rostrum ./
COPY scripts scripts
COPY src src

ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 STORE_URL=sqlite:/data/rostrum.db
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 3000

# Checks the process. For the store, a load balancer asks /readyz.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

# Node is process 1 and receives SIGTERM itself.
ENTRYPOINT ["node", "src/main.ts"]
