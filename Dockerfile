# Terrarium, headless, of the package that `npm pack` has made: npm pack && docker build --tag terrarium .
# What it takes and needs: docs/guides/ci.md.
ARG BASE=node:22-slim

FROM ${BASE} AS unpacked
# Unpacks by being added.
ADD terrarium-emulator-*.tgz /opt/
RUN rm -r /opt/package/dist/electron && mv /opt/package /opt/terrarium

FROM ${BASE}
COPY --from=unpacked /opt/terrarium /opt/terrarium
RUN ln -s /opt/terrarium/entries/terrarium.cjs /usr/local/bin/terrarium \
 && mkdir /data \
 && chown 1000:1000 /data
ENV NODE_ENV=production \
    HOME=/data \
    TERRARIUM_HEADLESS=true \
    TERRARIUM_HOST=0.0.0.0 \
    TERRARIUM_DATA=/data/world
USER 1000:1000
WORKDIR /data
VOLUME /data
EXPOSE 4700 4701
HEALTHCHECK --interval=5s --timeout=5s --start-period=20s CMD ["terrarium", "wait", "--timeout", "4"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["terrarium"]
CMD ["start"]
