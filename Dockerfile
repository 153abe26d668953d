# The image that `make image` makes without a container engine, for those who have one: docker build -t reserve-daemon .
# One static program and nothing else: no shell, no libc. No certificates either, since the daemon trusts only the
# authority that comes with its service account.
FROM rust:1.95-alpine AS build
RUN apk add --no-cache musl-dev gcc make
WORKDIR /src
COPY . .
RUN cargo build --locked --profile dist -p reserve-daemon

FROM scratch
COPY LICENSE /LICENSE
COPY --from=build /src/target/dist/reserve-daemon /reserve-daemon
USER 65532:65532
EXPOSE 10259
ENTRYPOINT ["/reserve-daemon"]
