# syntax=docker/dockerfile:1

# The image holds one static program and an empty folder for its state: no shell, no
# package manager, nothing to update but the program.
#
#   docker build -t fingerpost .
#   docker run -p 9876:9876 -v fingerpost:/data fingerpost
#
# Brokers and clients reach 9876 at once. HTTP listens on the container's own loopback
# until it is told where to listen and who may do what, because it refuses to be reachable
# without a credential:
#
#   docker run -p 9876:9876 -p 8876:8876 -v fingerpost:/data \
#     -v ./tokens:/etc/fingerpost/tokens:ro \
#     -e FINGERPOST_HTTP_LISTEN=0.0.0.0:8876 \
#     -e FINGERPOST_AUTH_TOKENS_FILE=/etc/fingerpost/tokens fingerpost

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG VERSION=dev
ARG COMMIT=unknown
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/cache \
    CGO_ENABLED=0 GOCACHE=/cache go build -trimpath -buildvcs=false \
      -ldflags "-s -w -X main.version=${VERSION} -X main.commit=${COMMIT}" \
      -o /out/fingerpost ./cmd/fingerpost && \
    mkdir /out/data

FROM scratch
ARG VERSION=dev
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="Fingerpost" \
      org.opencontainers.image.description="A name server compatible with Apache RocketMQ: remoting, REST and a live dashboard on one registry" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}"
COPY LICENSE NOTICE /
COPY --from=build /out/fingerpost /fingerpost
COPY --from=build --chown=65532:65532 /out/data /data
# The key-value file and the properties file lie below the home directory, as the peers
# have it, and what is ours alone below the state directory: all of it on one volume.
ENV HOME=/data XDG_STATE_HOME=/data
USER 65532:65532
VOLUME /data
# 9876 is for brokers, clients and tools; 8876 for REST, the dashboard, probes, metrics.
EXPOSE 9876 8876
# A warm-up counts as healthy: it is the time when brokers must reach the server.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["/fingerpost", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/fingerpost"]
